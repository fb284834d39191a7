// Package prometheus collects this process's figures under its container's limits
// ([maxprocs.Stats]) for client_golang. It is a module of its own, so that package maxprocs
// requires no client:
//
//	import maxprocsprom "github.com/millicore/millicore/maxprocs/prometheus"
//
//	prometheus.MustRegister(maxprocsprom.NewCollector())
//
// Metrics that were not measured are omitted, so that they do not read as 0. The counters
// continue when another group sets the limit. They have no label for the group: its path
// would make a new series of each container. Alert on the share of periods that were
// throttled, and never on throttled seconds as a share of time, which they can exceed:
//
//	rate(maxprocs_throttled_periods_total[5m]) / rate(maxprocs_periods_total[5m])
package prometheus

import (
	"github.com/millicore/millicore/maxprocs"
	"github.com/millicore/millicore/maxprocs/internal/metric"
	"github.com/prometheus/client_golang/prometheus"
)

type collector struct {
	read  func() maxprocs.Stats
	descs []*prometheus.Desc // of metric.All
}

// NewCollector returns a collector, to be registered once. Each collection reads small
// files ([maxprocs.ReadStats]).
func NewCollector() prometheus.Collector { return newCollector(maxprocs.ReadStats) }

func newCollector(read func() maxprocs.Stats) *collector {
	c := &collector{read: read}
	for _, m := range metric.All {
		c.descs = append(c.descs, prometheus.NewDesc("maxprocs_"+m.Name, m.Help, nil, nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	s := c.read()
	for i, m := range metric.All {
		kind := prometheus.GaugeValue
		if m.Counter {
			kind = prometheus.CounterValue
		}
		if value, measured := m.Value(s); measured {
			metrics <- prometheus.MustNewConstMetric(c.descs[i], kind, value)
		}
	}
}
