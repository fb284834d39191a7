module github.com/millicore/millicore/maxprocs/prometheus

go 1.21

require (
	github.com/millicore/millicore/maxprocs v0.1.0
	github.com/prometheus/client_golang v1.19.1
)

require (
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.2.0 // indirect
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/millicore/millicore/internal/cgroup v0.1.0 // indirect
	github.com/prometheus/client_model v0.5.0 // indirect
	github.com/prometheus/common v0.48.0 // indirect
	github.com/prometheus/procfs v0.12.0 // indirect
	golang.org/x/sys v0.17.0 // indirect
	google.golang.org/protobuf v1.33.0 // indirect
)

// For builds outside of the workspace. Users get the tagged versions: go ignores what a
// module that is required replaces.
replace (
	github.com/millicore/millicore/internal/cgroup => ../../internal/cgroup
	github.com/millicore/millicore/maxprocs => ../
)
