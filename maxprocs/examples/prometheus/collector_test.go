package main

import (
	"runtime"
	"testing"

	"github.com/millicore/millicore/maxprocs"
	"github.com/prometheus/client_golang/prometheus"
)

func TestCollector(t *testing.T) {
	registry := prometheus.NewPedanticRegistry() // checks what is collected against what is described
	registry.MustRegister(NewCollector())
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			got[family.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	if got["maxprocs_gomaxprocs"] != float64(runtime.GOMAXPROCS(0)) {
		t.Errorf("got %v, want GOMAXPROCS %d", got, runtime.GOMAXPROCS(0))
	}
	s := maxprocs.ReadStats()
	if _, has := got["maxprocs_limit_cpus"]; has != (s.Limit.State == maxprocs.Limited) {
		t.Errorf("got %v with the limit %+v", got, s.Limit)
	}
	if _, has := got["maxprocs_periods_total"]; has != (s.Periods.State().String() == "measured") {
		t.Errorf("got %v with %v periods", got, s.Periods)
	}
}
