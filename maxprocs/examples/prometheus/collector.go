package main

import (
	"github.com/millicore/millicore/maxprocs"
	"github.com/prometheus/client_golang/prometheus"
)

// Collector collects this process's CPU limit and throttling counters. Metrics that were
// not measured are omitted, so that they do not read as 0.
//
// Alert on the share of periods that were throttled, and never on throttled
// seconds as a share of time, which they can exceed:
//
//	rate(maxprocs_throttled_periods_total[5m]) / rate(maxprocs_periods_total[5m])
type Collector struct {
	procs, limit, periods, throttledPeriods, throttled *prometheus.Desc
}

// NewCollector returns a Collector, to be registered once.
func NewCollector() *Collector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("maxprocs_"+name, help, nil, nil)
	}
	return &Collector{
		procs:            desc("gomaxprocs", "GOMAXPROCS."),
		limit:            desc("limit_cpus", "CPU limit in effect, in CPUs; absent where there is none."),
		periods:          desc("periods_total", "Periods of the limit in which the group ran."),
		throttledPeriods: desc("throttled_periods_total", "Periods at whose end the group was throttled."),
		throttled:        desc("throttled_seconds_total", "Time for which the group was throttled, summed over CPUs."),
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.procs, c.limit, c.periods, c.throttledPeriods, c.throttled} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	send := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64) {
		metrics <- prometheus.MustNewConstMetric(desc, kind, value)
	}
	s := maxprocs.ReadStats()
	send(c.procs, prometheus.GaugeValue, float64(s.GOMAXPROCS))
	if s.Limit.State == maxprocs.Limited {
		send(c.limit, prometheus.GaugeValue, s.Limit.CPUs)
	}
	if n, ok := s.Periods.Get(); ok {
		send(c.periods, prometheus.CounterValue, float64(n))
	}
	if n, ok := s.ThrottledPeriods.Get(); ok {
		send(c.throttledPeriods, prometheus.CounterValue, float64(n))
	}
	if d, ok := s.Throttled.Get(); ok {
		send(c.throttled, prometheus.CounterValue, d.Seconds())
	}
}
