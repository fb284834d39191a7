// Command prometheus serves the kernel's throttling counters of its CPU limit on /metrics,
// with GOMAXPROCS from the limit:
//
//	go run ./maxprocs/examples/prometheus -listen localhost:9099
//	curl -s localhost:9099/metrics | grep maxprocs
package main

import (
	"flag"
	"log"
	"net/http"

	_ "github.com/millicore/millicore/maxprocs/auto"
	maxprocsprom "github.com/millicore/millicore/maxprocs/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	listen := flag.String("listen", "localhost:9099", "address to serve /metrics on")
	flag.Parse()
	prometheus.MustRegister(maxprocsprom.NewCollector())
	http.Handle("/metrics", promhttp.Handler())
	log.Fatal(http.ListenAndServe(*listen, nil))
}
