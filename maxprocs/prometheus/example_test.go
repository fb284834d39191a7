package prometheus_test

import (
	"fmt"

	maxprocsprom "github.com/millicore/millicore/maxprocs/prometheus"
	"github.com/prometheus/client_golang/prometheus"
)

func ExampleNewCollector() {
	registry := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	registry.MustRegister(maxprocsprom.NewCollector())

	families, err := registry.Gather()
	fmt.Println(len(families) > 0, err)
	// Output: true <nil>
}
