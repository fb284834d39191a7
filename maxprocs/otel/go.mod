module github.com/millicore/millicore/maxprocs/otel

go 1.21

require (
	github.com/millicore/millicore/maxprocs v0.1.0
	go.opentelemetry.io/otel/metric v1.28.0
	go.opentelemetry.io/otel/sdk/metric v1.28.0
)

require (
	github.com/go-logr/logr v1.4.2 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/millicore/millicore/internal/cgroup v0.1.0 // indirect
	go.opentelemetry.io/otel v1.28.0 // indirect
	go.opentelemetry.io/otel/sdk v1.28.0 // indirect
	go.opentelemetry.io/otel/trace v1.28.0 // indirect
	golang.org/x/sys v0.21.0 // indirect
)

// For builds outside of the workspace. Users get the tagged versions: go ignores what a
// module that is required replaces.
replace (
	github.com/millicore/millicore/internal/cgroup => ../../internal/cgroup
	github.com/millicore/millicore/maxprocs => ../
)
