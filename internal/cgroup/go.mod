module github.com/millicore/millicore/internal/cgroup

go 1.21
