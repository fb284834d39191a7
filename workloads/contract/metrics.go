package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	// durations is the name of the histogram of requests, in seconds.
	durations = "http_request_duration_seconds"
	// inserts is the name of the histogram of the store's inserts, in seconds.
	inserts = "device_insert_duration_seconds"
)

// bounds are the upper bounds of both histograms, in seconds, without +Inf.
var bounds = []float64{
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
	0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
}

// series are the values of the labels method, route and status.
type series struct{ method, route, status string }

func (s service) countsRequests(t *testing.T) {
	const requests = 3
	counterRoute := "/counter/" + sharedKey
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
		{request{method: "GET", path: "/loop?n=7"}, series{"GET", "/loop", "200"}},
		{request{method: "GET", path: "/loop"}, series{"GET", "/loop", "400"}},
		{request{method: "POST", path: counterRoute + "?n=7"}, series{"POST", "/counter/{key}", "200"}},
		{request{method: "POST", path: counterRoute}, series{"POST", "/counter/{key}", "400"}},
		{request{method: "GET", path: "/counter/" + absentKey}, series{"GET", "/counter/{key}", "404"}},
		{request{method: "PUT", path: counterRoute}, series{"other", "/counter/{key}", "405"}},
		{request{method: "GET", path: "/healthz"}, series{"GET", "/healthz", "200"}},
		{request{method: "DELETE", path: "/devices"}, series{"other", "/devices", "405"}},
		{request{method: "GET", path: "/nowhere"}, series{"other", "other", "404"}},
	} {
		t.Run(c.request.method+" "+c.path+" "+c.status, func(t *testing.T) {
			histogram := func() *dto.Histogram { return s.scrape(t)[c.series] }
			before := histogram().GetSampleCount()
			for range requests {
				s.do(t, c.request)
			}
			wantSamples(t, histogram, before+requests)
		})
	}
}

// countsInserts adds devices between ones that never come to the store.
func (s service) countsInserts(t *testing.T) {
	const devices = 5
	histogram := func() *dto.Histogram { return s.inserts(t) }
	before := histogram().GetSampleCount()
	for range devices {
		s.post(t, "/devices", "{}").wantRefusal(t, http.StatusBadRequest)
		s.post(t, "/devices", validDevice).wantJSONHeaders(t, http.StatusCreated)
		s.get(t, "/devices").wantJSONHeaders(t, http.StatusOK)
	}
	wantSamples(t, histogram, before+devices)
}

// wantSamples checks that a histogram counts so many, between the bounds of the
// contract. An answer may be on its way before its request is counted, and the
// scrape that follows it on the wire then comes too early: hence the patience.
func wantSamples(t *testing.T, histogram func() *dto.Histogram, want uint64) {
	t.Helper()
	var have *dto.Histogram
	for range 1000 {
		if have = histogram(); have.GetSampleCount() >= want {
			break
		}
	}
	if got := have.GetSampleCount(); got != want {
		t.Fatalf("the histogram counts %d, want %d", got, want)
	}
	var upper []float64
	for _, b := range have.Bucket {
		upper = append(upper, b.GetUpperBound())
	}
	if len(upper) > len(bounds) { // +Inf may be written or not
		upper = upper[:len(bounds)]
	}
	if diff := cmp.Diff(bounds, upper); diff != "" {
		t.Errorf("bounds (-contract +service):\n%s", diff)
	}
}

// boundsSeries sends what a client could make up and checks that no label
// takes it over: each such value would be a series kept for ever.
func (s service) boundsSeries(t *testing.T) {
	const madeUp = "MADEUP"
	for _, path := range []string{"/devices", "/" + madeUp} {
		req, err := s.build(t.Context(), request{method: madeUp, path: path})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = s.roundTrip(req) // a server may hang up on a method that it has never heard of
	}
	s.get(t, "/isPrime/"+madeUp)
	s.get(t, "/loop?n="+madeUp)
	s.get(t, "/counter/"+madeUp)
	s.add(t, madeUp, 1)
	s.get(t, "/"+madeUp)
	if body := s.get(t, "/metrics").body; strings.Contains(body, madeUp) {
		t.Errorf("/metrics took over what the client made up:\n%s", body)
	}
	s.scrape(t) // which checks the names of the labels
}

// scrape returns the histogram of requests by its labels.
func (s service) scrape(t *testing.T) map[series]*dto.Histogram {
	t.Helper()
	found := make(map[series]*dto.Histogram)
	for _, m := range s.histogram(t, durations) {
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

// inserts returns the histogram of inserts.
func (s service) inserts(t *testing.T) *dto.Histogram {
	t.Helper()
	all := s.histogram(t, inserts)
	if len(all) != 1 || len(all[0].Label) != 0 {
		t.Fatalf("%s has the series %v, want one without labels", inserts, all)
	}
	return all[0].Histogram
}

// histogram returns all series of the histogram of that name.
func (s service) histogram(t *testing.T, name string) []*dto.Metric {
	t.Helper()
	r := s.get(t, "/metrics")
	r.wantText(t, http.StatusOK)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(r.body))
	if err != nil {
		t.Fatalf("GET /metrics: parse: %v", err)
	}
	family := families[name]
	if family.GetType() != dto.MetricType_HISTOGRAM {
		t.Fatalf("GET /metrics has no histogram %s", name)
	}
	return family.Metric
}
