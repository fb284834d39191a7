module github.com/millicore/millicore/maxprocs

go 1.21
