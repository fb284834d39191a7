package cadvisor

import (
	"bytes"
	_ "embed"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/signals"
)

// metrics is what a kubelet answers, cut to one pod of a run, its sandbox, the pod
// itself, another's pod and the node.
//
//go:embed testdata/metrics.txt
var metrics string

func TestSamples(t *testing.T) {
	got, err := Read(strings.NewReader(metrics), "mine", "service", func(pod string) bool { return pod == "go-1" })
	if err != nil {
		t.Fatal(err)
	}
	want := []Sample{{Pod: "go-1", ID: "/kubepods/podaa/11", Counters: signals.Counters{
		At: time.UnixMilli(1795402007815), CPU: of(4.25), Periods: of(int64(100)), ThrottledPeriods: of(int64(40)), Throttled: of(1.5),
		CPULimit: of(0.5), Memory: of(int64(1 << 20)), MemoryPeak: of(int64(2 << 20)), MemoryLimit: of(int64(128 << 20))}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A container without limits has no periods, and its limits are 0.
func TestASampleWithoutLimits(t *testing.T) {
	text := `container_cpu_usage_seconds_total{container="service",id="/a",namespace="mine",pod="p"} 1 5
container_spec_cpu_period{container="service",id="/a",namespace="mine",pod="p"} 100000
container_spec_memory_limit_bytes{container="service",id="/a",namespace="mine",pod="p"} 0
`
	got, err := Read(strings.NewReader(text), "mine", "service", func(string) bool { return true })
	want := []Sample{{Pod: "p", ID: "/a", Counters: signals.Counters{At: time.UnixMilli(5), CPU: of(1.0)}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestMetricsThatAreNone(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"no end", `container_cpu_usage_seconds_total{container="service" 1`, "no closing brace"},
		{"no value", `container_cpu_usage_seconds_total{container="service"}`, "0 figures"},
		{"a value of words", `container_cpu_usage_seconds_total{container="service",namespace="mine",pod="p"} much 1`, `value of "much"`},
		{"a time of words", `container_cpu_usage_seconds_total{container="service",namespace="mine",pod="p"} 1 now`, `time of "now"`},
		{"labels of something else", `container_cpu_usage_seconds_total{container="service",pod} 1 2`, "labels"},
		{"a label that does not end", `container_cpu_usage_seconds_total{container="service",pod="p\"} 1 2`, "labels"},
	} {
		_, err := Read(strings.NewReader("# TYPE x\n"+c.line+"\n"), "mine", "service", func(string) bool { return true })
		if err == nil || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestStamps(t *testing.T) {
	got, err := Stamps(strings.NewReader(metrics))
	want := map[string]int64{"/": 1795402007111, "/kubepods/podaa/11": 1795402007815}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func FuzzRead(f *testing.F) {
	for line := range strings.Lines(metrics) { // short ones: long ones are shortened for a minute
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := Read(bytes.NewReader(text), "mine", "service", func(string) bool { return true })
		if err != nil && len(all) > 0 {
			t.Error("samples beside an error")
		}
		for _, s := range all {
			if s.At.UnixMilli() == 0 {
				t.Error("a sample without a time")
			}
		}
		_, _ = Stamps(bytes.NewReader(text))
	})
}

// What others' containers cost, of which a full node has hundreds.
func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	for i := range 300 {
		text.WriteString(strings.ReplaceAll(metrics, `pod="go-1"`, `pod="other-`+strings.Repeat("x", i%10)+`"`))
	}
	text.WriteString(metrics)
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(text.Bytes()), "mine", "service", func(pod string) bool { return pod == "go-1" }); err != nil {
			b.Fatal(err)
		}
	}
}
