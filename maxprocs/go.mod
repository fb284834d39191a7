module github.com/millicore/millicore/maxprocs

go 1.21

require github.com/millicore/millicore/internal/cgroup v0.1.0

// For builds outside of the workspace. Users get the tagged version: go ignores what a
// module that is required replaces.
replace github.com/millicore/millicore/internal/cgroup => ../internal/cgroup
