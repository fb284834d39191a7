package golang

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// Labels for what a client made up itself, so that it cannot make up series.
const (
	otherMethod = "other"
	otherRoute  = "other"
)

// durationBounds are the histogram's upper bounds, in seconds: from a JSON
// answer on an idle core to one that has waited out many throttled periods.
var durationBounds = []float64{
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
	0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
}

// metrics are the service's own figures. They start with the handler, so they do not
// include the time that a request waited in the kernel or for a CPU: under overload they
// are better than what clients see, which the sample service is meant to demonstrate.
type metrics struct {
	durations *prometheus.HistogramVec
	inserts   prometheus.Histogram
	registry  *prometheus.Registry
}

func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "http_request_duration_seconds",
		Help:    "Time in the handler, by method, route and status.",
		Buckets: durationBounds,
	}, []string{"method", "route", "status"})
	inserts := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "device_insert_duration_seconds",
		Help:    "Time that the store took for an insert, well or not, with its wait for a connection.",
		Buckets: durationBounds,
	})
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		durations,
		inserts,
	)
	return &metrics{durations, inserts, registry}
}

// observer returns what takes the seconds of a request. Finding it costs more
// than using it: endpoints find theirs once, refusals each time.
func (m *metrics) observer(method, route string, status int) func(seconds float64) {
	return m.durations.WithLabelValues(method, route, strconv.Itoa(status)).Observe
}

// expose has all figures in Prometheus' text format.
func (m *metrics) expose(call) (content, error) {
	families, err := m.registry.Gather()
	if err != nil {
		return content{}, fmt.Errorf("gather the metrics: %w", err)
	}
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	var text bytes.Buffer
	encoder := expfmt.NewEncoder(&text, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return content{}, fmt.Errorf("encode the metrics: %w", err)
		}
	}
	return content{string(format), text.Bytes()}, nil
}
