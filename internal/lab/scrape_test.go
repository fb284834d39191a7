package lab

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
)

func TestIncreaseOfAHistogram(t *testing.T) {
	before := &histogram{bounds: []float64{0.1, 1}, counts: []int64{5, 8}, count: 9, sum: 4}
	for _, c := range []struct {
		name   string
		before *histogram
		after  histogram
		want   *signals.Waits
	}{
		{"one in each bucket and two above", before, histogram{bounds: []float64{0.1, 1}, counts: []int64{6, 10}, count: 13, sum: 14},
			&signals.Waits{Bounds: []float64{0.1, 1}, Counts: []int64{1, 1, 2}, Sum: 10}},
		{"nothing", before, *before, &signals.Waits{Bounds: []float64{0.1, 1}, Counts: []int64{0, 0, 0}}},
		{"the first reading", nil, *before, nil},
		{"the service was restarted", before, histogram{bounds: []float64{0.1, 1}, counts: []int64{1, 1}, count: 1}, nil},
		{"one bucket was reset", before, histogram{bounds: []float64{0.1, 1}, counts: []int64{1, 12}, count: 20}, nil},
		{"other bounds", before, histogram{bounds: []float64{0.1}, counts: []int64{9}, count: 20}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, c.after.since(c.before)); d != "" {
				t.Error(d)
			}
		})
	}
}

// addressed is a replica that has only an address.
type addressed struct {
	platform.Replica
	address string
}

func (a addressed) Address() string { return a.address }

func TestAHistogramIsSummedOverAllLabels(t *testing.T) {
	registry := prometheus.NewRegistry()
	inserts := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "insert_duration_seconds", Help: "x", Buckets: []float64{0.01, 0.1}}, []string{"table"})
	registry.MustRegister(inserts, prometheus.NewGauge(prometheus.GaugeOpts{Name: "other", Help: "x"}))
	inserts.WithLabelValues("a").Observe(0.005)
	inserts.WithLabelValues("b").Observe(0.05)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	at := addressed{address: strings.TrimPrefix(server.URL, "http://")}
	s := &scraper{of: "go", replica: at, metrics: &experiment.Metrics{Path: "/metrics", Dependency: "insert_duration_seconds"}, every: time.Second, client: http.DefaultClient}
	h, err := s.scrape(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int64{1, 2}, h.counts); d != "" || h.count != 2 {
		t.Errorf("%d counted; cumulative counts:\n%s", h.count, d)
	}

	for _, c := range []struct {
		name, dependency, path, want string
		handler                      http.HandlerFunc
	}{
		{"no such histogram", "missing", "/metrics", "has no histogram missing", nil},
		{"not a histogram", "other", "/metrics", "has no histogram other", nil},
		{"not found", "x", "/", "answered 404 Not Found", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }},
		{"not Prometheus' format", "x", "/", "read the metrics of go: ", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("{}\n")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scraper{of: "go", replica: at, metrics: &experiment.Metrics{Path: c.path, Dependency: c.dependency}, every: time.Second, client: http.DefaultClient}
			if c.handler != nil {
				other := httptest.NewServer(c.handler)
				defer other.Close()
				s.replica = addressed{address: strings.TrimPrefix(other.URL, "http://")}
			}
			if _, err := s.scrape(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}
