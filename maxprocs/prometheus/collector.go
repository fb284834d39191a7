// Package prometheus collects this process's CPU limit and throttling counters for
// client_golang. It is a module of its own, so that package maxprocs requires no client:
//
//	import maxprocsprom "github.com/millicore/millicore/maxprocs/prometheus"
//
//	prometheus.MustRegister(maxprocsprom.NewCollector())
//
// Metrics that were not measured are omitted, so that they do not read as 0. The counters
// continue when another group sets the limit ([maxprocs.Throttling]). They have no label for
// the group: its path would make a new series of each container. Alert on the share of
// periods that were throttled, and never on throttled seconds as a share of time, which
// they can exceed:
//
//	rate(maxprocs_throttled_periods_total[5m]) / rate(maxprocs_periods_total[5m])
package prometheus

import (
	"github.com/millicore/millicore/maxprocs"
	"github.com/prometheus/client_golang/prometheus"
)

type collector struct {
	read                                               func() maxprocs.Stats
	procs, limit, periods, throttledPeriods, throttled *prometheus.Desc
}

// NewCollector returns a collector, to be registered once. Each collection reads a few
// small files.
func NewCollector() prometheus.Collector { return newCollector(maxprocs.ReadStats) }

func newCollector(read func() maxprocs.Stats) *collector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("maxprocs_"+name, help, nil, nil)
	}
	return &collector{
		read:             read,
		procs:            desc("gomaxprocs", "GOMAXPROCS."),
		limit:            desc("limit_cpus", "CPU limit in effect, in CPUs; absent if there is none or it is not known."),
		periods:          desc("periods_total", "Periods of the limit in which the group ran."),
		throttledPeriods: desc("throttled_periods_total", "Periods in which the group was throttled."),
		throttled:        desc("throttled_seconds_total", "Time for which the group was throttled, summed over CPUs."),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.procs, c.limit, c.periods, c.throttledPeriods, c.throttled} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	send := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64) {
		metrics <- prometheus.MustNewConstMetric(desc, kind, value)
	}
	s := c.read()
	send(c.procs, prometheus.GaugeValue, float64(s.GOMAXPROCS))
	if s.Limit.State == maxprocs.Limited {
		send(c.limit, prometheus.GaugeValue, s.Limit.CPUs)
	}
	if t := s.Throttling; t != nil {
		send(c.periods, prometheus.CounterValue, float64(t.Periods))
		send(c.throttledPeriods, prometheus.CounterValue, float64(t.ThrottledPeriods))
		send(c.throttled, prometheus.CounterValue, t.Throttled.Seconds())
	}
}
