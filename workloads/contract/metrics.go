package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// durations is the name of the histogram of requests, in seconds.
const durations = "http_request_duration_seconds"

// bounds are the histogram's upper bounds, in seconds, without +Inf.
var bounds = []float64{
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
	0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
}

// series are the values of the labels method, route and status.
type series struct{ method, route, status string }

func (s service) countsRequests(t *testing.T) {
	const requests = 3
	for _, c := range []struct {
		request
		series
	}{
		{request{method: "GET", path: "/devices"}, series{"GET", "/devices", "200"}},
		{request{method: "HEAD", path: "/devices"}, series{"GET", "/devices", "200"}},
		{request{method: "POST", path: "/devices", contentType: jsonType, body: validDevice}, series{"POST", "/devices", "201"}},
		{request{method: "POST", path: "/devices", contentType: jsonType}, series{"POST", "/devices", "400"}},
		{request{method: "POST", path: "/devices", body: validDevice}, series{"POST", "/devices", "415"}},
		{request{method: "GET", path: "/isPrime/7"}, series{"GET", "/isPrime/{n}", "200"}},
		{request{method: "GET", path: "/isPrime/seven"}, series{"GET", "/isPrime/{n}", "400"}},
		{request{method: "GET", path: "/healthz"}, series{"GET", "/healthz", "200"}},
		{request{method: "DELETE", path: "/devices"}, series{"other", "/devices", "405"}},
		{request{method: "GET", path: "/nowhere"}, series{"other", "other", "404"}},
	} {
		t.Run(c.request.method+" "+c.path+" "+c.status, func(t *testing.T) {
			before := s.scrape(t)[c.series].GetSampleCount()
			for range requests {
				s.do(t, c.request)
			}
			// An answer may be on its way before its request is counted; the
			// scrape that follows it on the wire then comes too early.
			var after *dto.Histogram
			for range 1000 {
				if after = s.scrape(t)[c.series]; after.GetSampleCount() >= before+requests {
					break
				}
			}
			if got := after.GetSampleCount(); got != before+requests {
				t.Fatalf("%d requests took %s%+v from %d to %d", requests, durations, c.series, before, got)
			}
			var have []float64
			for _, b := range after.Bucket {
				have = append(have, b.GetUpperBound())
			}
			if len(have) > len(bounds) { // +Inf may be written or not
				have = have[:len(bounds)]
			}
			if diff := cmp.Diff(bounds, have); diff != "" {
				t.Errorf("bounds (-contract +service):\n%s", diff)
			}
		})
	}
}

// boundsSeries sends what a client could make up and checks that no label
// takes it over: each such value would be a series kept for ever.
func (s service) boundsSeries(t *testing.T) {
	const madeUp = "MADEUP"
	s.do(t, request{method: madeUp, path: "/devices"})
	s.do(t, request{method: madeUp, path: "/" + madeUp})
	s.get(t, "/isPrime/"+madeUp)
	s.get(t, "/"+madeUp)
	for have := range s.scrape(t) {
		if strings.Contains(fmt.Sprint(have), madeUp) {
			t.Errorf("%s has the series %+v", durations, have)
		}
	}
}

// scrape returns the histogram of requests by its labels.
func (s service) scrape(t *testing.T) map[series]*dto.Histogram {
	t.Helper()
	r := s.get(t, "/metrics")
	r.wantText(t, http.StatusOK)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(r.body))
	if err != nil {
		t.Fatalf("GET /metrics: parse: %v", err)
	}
	family := families[durations]
	if family.GetType() != dto.MetricType_HISTOGRAM {
		t.Fatalf("GET /metrics has no histogram %s", durations)
	}
	found := make(map[series]*dto.Histogram)
	for _, m := range family.Metric {
		labels := make(map[string]string)
		for _, l := range m.Label {
			labels[l.GetName()] = l.GetValue()
		}
		key := series{labels["method"], labels["route"], labels["status"]}
		if len(labels) != 3 || key.method == "" || key.route == "" || key.status == "" {
			t.Fatalf("%s has labels %v, want method, route, status", durations, labels)
		}
		found[key] = m.Histogram
	}
	return found
}
