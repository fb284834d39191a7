module github.com/millicore/millicore/test/cluster/pause

go 1.26.0
