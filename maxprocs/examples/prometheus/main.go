// Command prometheus serves what the kernel counts of its CPU limit on /metrics,
// with GOMAXPROCS set from the limit and followed:
//
//	go run ./maxprocs/examples/prometheus -listen localhost:9099
//	curl -s localhost:9099/metrics | grep maxprocs
package main

import (
	"flag"
	"log"
	"net/http"

	_ "github.com/millicore/millicore/maxprocs/auto"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	listen := flag.String("listen", "localhost:9099", "address to serve /metrics on")
	flag.Parse()
	prometheus.MustRegister(NewCollector())
	http.Handle("/metrics", promhttp.Handler())
	log.Fatal(http.ListenAndServe(*listen, nil))
}
