package traffic

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/signals"
)

func TestTargets(t *testing.T) {
	lookup := func(host string) ([]string, error) {
		switch host {
		case "localhost":
			return []string{"127.0.0.1", "::1"}, nil
		case "both":
			return []string{"127.0.0.1", "192.0.2.1"}, nil
		}
		return nil, errors.New("no such host")
	}
	for _, c := range []struct {
		url, address, path string
		loopback           bool
	}{
		{"http://127.0.0.1:8080", "127.0.0.1:8080", "/", true},
		{"127.0.0.1:8080/a?b=1", "127.0.0.1:8080", "/a?b=1", true},
		{"localhost/x/{{seq}}", "localhost:80", "/x/{{seq}}", true},
		{"http://[::1]:80/%20", "[::1]:80", "/%20", true},
		{"http://[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]:80", "/", true},
		{"http://localhost?q=1", "localhost:80", "/?q=1", true},
		{"http://localhost?next=/x", "localhost:80", "/?next=/x", true},
		{"127.0.0.1:8080/r?u=http://x", "127.0.0.1:8080", "/r?u=http://x", true},
		{"http://both/", "both:80", "/", false},
		{"http://192.0.2.1/", "192.0.2.1:80", "/", false},
		{"https://localhost/a", "localhost:443", "/a", true},
		{"https://localhost:8443/a", "localhost:8443", "/a", true},
	} {
		got, err := ParseTarget(c.url, lookup)
		if err != nil || got.Address != c.address || got.Path != c.path || got.Loopback != c.loopback {
			t.Errorf("%s: %+v, %v", c.url, got, err)
		}
	}
	for url, want := range map[string]string{
		"ws://x/":                     "not ws://",
		"http:///x":                   "there is no host in it",
		"http://a:geheim@x/":          "name it with --basic-env",
		"http://127.0.0.1/#part":      "never sent",
		"http://nowhere/":             "no such host",
		"http://127.0.0.1:99999/":     "99999 is no port",
		"http://127.0.0.1:0/":         "0 is no port",
		"http://127.0.0.1:notaport":   "is no URL",
		"http://a:geheim@x:notaport/": "\"http://x:notaport/\" is no URL",
		"ftp://a:geheim@x/":           "ftp://x/: credentials in a URL",
	} {
		if _, err := ParseTarget(url, lookup); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v; want in it: %s", url, err, want)
		}
	}
}

func TestThresholds(t *testing.T) {
	good, rate := 99.5, 1000.0
	r := &Result{Cell: &analysis.CellSummary{RateRPS: &rate, Availability: &good,
		LatencyMS: &analysis.Quantiles{P50: 1, P90: 2, P95: 3, P99: 300, P999: 500, Max: 900, Mean: 10}}}
	for text, kept := range map[string]bool{
		"p99<300ms": false, "p99<=300ms": true, "p99 < 0.31s": true, "p50>=1ms": true, "p50>1ms": false,
		"p99.9<501ms": true, "max<1s": true, "mean<10000us": false, "mean<=10000us": true,
		"errors<1%": true, "errors<0.5%": false, "errors<=0.5%": true, "rate>999": true, "rate>1000": false,
	} {
		one, err := ParseThreshold(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if k := one.Judge(r); k.Kept != kept || k.Value == nil {
			t.Errorf("%s: %+v, want %v", text, k, kept)
		}
	}
	one, _ := ParseThreshold("p99<1h")
	if k := one.Judge(&Result{Cell: &analysis.CellSummary{}}); k.Kept || k.Value != nil {
		t.Errorf("what was not seen: %+v", k)
	}
	for text, want := range map[string]string{
		"p99": "write it as", "p99<300": "has a unit", "p98<1ms": "p98 is none of", "errors<1": "write 1%",
		"rate>5ms": "write 5", "p99<1.2.3ms": "no number", "": "write it as", "p99=1ms": "write it as", "p99<1h2ms": "write it as",
	} {
		if _, err := ParseThreshold(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want in it: %s", text, err, want)
		}
	}
}

func TestText(t *testing.T) {
	rate, good, lag, cores, cpu, ofLimit := 990.0, 99.0, 35.0, 0.1, 0.4, 0.8
	periods, throttled, memory := int64(100), int64(40), int64(20<<20)
	latency := signals.NewHistogram()
	for range 98 {
		latency.Record(1200 * time.Microsecond)
	}
	latency.Record(40 * time.Millisecond)
	q := &analysis.Quantiles{P50: 1.2, P90: 1.2, P95: 1.2, P99: 40, P999: 40, Max: 40, Mean: 1.59, Min: 1.2}
	r := &Result{
		Cell: &analysis.CellSummary{Requests: 100, RateRPS: &rate, Availability: &good, LatencyMS: q, ServiceMS: q,
			Load:      analysis.LoadSummary{Kind: "open", Rate: &rate},
			CPU:       analysis.CPUSummary{Cores: &cpu, OfLimit: &ofLimit, Periods: &periods, ThrottledPeriods: &throttled},
			Memory:    analysis.MemorySummary{PeakBytes: &memory},
			Generator: analysis.GeneratorSummary{SendLagP99US: &lag, Cores: &cores},
			Flags:     []string{"few_trials", "cpu_stolen"}},
		Client: signals.Client{Good: 99, Timeouts: 1, Status: map[string]int64{"200": 99}, Bytes: 2048, Connects: 8, CPU: 0.01, Latency: latency},
		Length: 100 * time.Millisecond, measured: 2048,
	}
	value := 40.0
	var b strings.Builder
	if err := Text(&b, "http://x/", r, []Kept{{Threshold: "p99<30ms", Value: &value, metric: "p99"}}, display.Terminal{Width: 100}); err != nil {
		t.Fatal(err)
	}
	const want = `http://x/: 990 requests/s, p99 40.0 ms, 99.0% answered well.

Summary
  requests          100 in 0.100 s
  good answers      99
  load              open loop, 990 requests/s
  received          2.00 KiB, 20.0 KiB/s
  connections made  8

Latency, ms  from intended  from sent
  lowest              1.20       1.20
  mean                1.59       1.59
  p50                 1.20       1.20
  p90                 1.20       1.20
  p95                 1.20       1.20
  p99                 40.0       40.0
  p99.9               40.0       40.0
  highest             40.0       40.0

Histogram      requests
  to  1.60 ms        98  ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
  to  2.50 ms         0
  to  4.00 ms         0
  to  6.30 ms         0
  to  10.0 ms         0
  to  16.0 ms         0
  to  25.0 ms         0
  to  40.0 ms         1  ▏

Status codes
  200  99

Errors
  timed out  1

Generator
  send lag, p99  0.035 ms
  CPU used       0.100 cores, 101 us a good answer
  verdict        not the limit: the figures are the service's

Target
  CPU used      0.400 cores, 80.0% of its limit
  throttled     40 of 100 periods
  memory, peak  20.0 MiB

Thresholds
  p99<30ms  missed, 40.0 ms

! The hypervisor took 0.1 cores and more from this machine: latencies hold its pauses.
`
	if b.String() != want {
		t.Errorf("got:\n%s", b.String())
	}
}
