module github.com/millicore/millicore/maxprocs/examples

go 1.26.0

require (
	github.com/prometheus/client_golang v1.25.0
	go.uber.org/automaxprocs v1.6.0
)
