package kubernetes

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/signals"
)

// metrics is what a kubelet answers, cut to one pod of a run, its sandbox, the pod
// itself, another's pod and the node.
const metrics = `# HELP container_cpu_usage_seconds_total Cumulative cpu time consumed in seconds.
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="",cpu="total",id="/",image="",name="",namespace="",pod=""} 1386.5 1795402007111
container_cpu_usage_seconds_total{container="",cpu="total",id="/kubepods/podaa",image="",name="",namespace="mine",pod="go-1"} 9.5 1795402007420
container_cpu_usage_seconds_total{container="service",cpu="total",id="/kubepods/podaa/11",image="docker.io/a/b:\"1\"",name="11",namespace="mine",pod="go-1"} 4.25 1795402007815
container_cpu_usage_seconds_total{container="service",cpu="cpu00",id="/kubepods/podaa/11",image="",name="11",namespace="mine",pod="go-1"} 2 1795402007815
container_cpu_usage_seconds_total{container="proxy",cpu="total",id="/kubepods/podaa/22",image="",name="22",namespace="mine",pod="go-1"} 3 1795402007816
container_cpu_usage_seconds_total{container="service",cpu="total",id="/kubepods/podbb/33",image="",name="33",namespace="theirs",pod="go-1"} 3 1795402007816
container_cpu_usage_seconds_total{container="service",cpu="total",id="/kubepods/podcc/44",image="",name="44",namespace="mine",pod="other"} 3 1795402007816
container_cpu_cfs_periods_total{container="service",id="/kubepods/podaa/11",image="",name="11",namespace="mine",pod="go-1"} 100 1795402007815
container_cpu_cfs_throttled_periods_total{container="service",id="/kubepods/podaa/11",image="",name="11",namespace="mine",pod="go-1"} 40 1795402007815
container_cpu_cfs_throttled_seconds_total{container="service",id="/kubepods/podaa/11",image="",name="11",namespace="mine",pod="go-1"} 1.5 1795402007815
container_memory_working_set_bytes{container="service",id="/kubepods/podaa/11",image="",name="11",namespace="mine",pod="go-1"} 1.048576e+06 1795402007815
container_memory_working_set_bytes{container="",id="/",image="",name="",namespace="",pod=""} 1 1795402007111
container_memory_max_usage_bytes{container="service",id="/kubepods/podaa/11",image="",name="11",namespace="mine",pod="go-1"} 2.097152e+06 1795402007815
container_spec_cpu_period{container="service",id="/kubepods/podaa/11",image="",name="11",namespace="mine",pod="go-1"} 100000
container_spec_cpu_quota{container="service",id="/kubepods/podaa/11",image="",name="11",namespace="mine",pod="go-1"} 50000
container_spec_memory_limit_bytes{container="service",id="/kubepods/podaa/11",image="",name="11",namespace="mine",pod="go-1"} 1.34217728e+08
container_spec_memory_limit_bytes{container="service",id="/kubepods/podaa/99",image="",name="99",namespace="mine",pod="go-1"} 0
machine_cpu_cores 2
`

func TestSamples(t *testing.T) {
	got, err := readSamples(strings.NewReader(metrics), "mine", unitContainer, func(pod string) bool { return pod == "go-1" })
	if err != nil {
		t.Fatal(err)
	}
	want := []sample{{pod: "go-1", id: "/kubepods/podaa/11", Counters: signals.Counters{
		At: time.UnixMilli(1795402007815), CPU: of(4.25), Periods: of(int64(100)), ThrottledPeriods: of(int64(40)), Throttled: of(1.5),
		CPULimit: of(0.5), Memory: of(int64(1 << 20)), MemoryPeak: of(int64(2 << 20)), MemoryLimit: of(int64(128 << 20))}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A container without limits has no periods, and its limits are 0.
func TestASampleWithoutLimits(t *testing.T) {
	text := `container_cpu_usage_seconds_total{container="service",id="/a",namespace="mine",pod="p"} 1 5
container_spec_cpu_period{container="service",id="/a",namespace="mine",pod="p"} 100000
container_spec_memory_limit_bytes{container="service",id="/a",namespace="mine",pod="p"} 0
`
	got, err := readSamples(strings.NewReader(text), "mine", unitContainer, func(string) bool { return true })
	want := []sample{{pod: "p", id: "/a", Counters: signals.Counters{At: time.UnixMilli(5), CPU: of(1.0)}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestMetricsThatAreNone(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"no end", `container_cpu_usage_seconds_total{container="service" 1`, "no labels end"},
		{"no value", `container_cpu_usage_seconds_total{container="service"}`, "0 figures"},
		{"a value of words", `container_cpu_usage_seconds_total{container="service",namespace="mine",pod="p"} much 1`, `value of "much"`},
		{"a time of words", `container_cpu_usage_seconds_total{container="service",namespace="mine",pod="p"} 1 now`, `time of "now"`},
		{"labels of something else", `container_cpu_usage_seconds_total{container="service",pod} 1 2`, "labels"},
		{"a label that does not end", `container_cpu_usage_seconds_total{container="service",pod="p\"} 1 2`, "labels"},
	} {
		_, err := readSamples(strings.NewReader("# TYPE x\n"+c.line+"\n"), "mine", unitContainer, func(string) bool { return true })
		if err == nil || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestStamps(t *testing.T) {
	got, err := readStamps(strings.NewReader(metrics))
	want := map[string]int64{"/": 1795402007111, "/kubepods/podaa/11": 1795402007815}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func FuzzSamples(f *testing.F) {
	f.Add([]byte(metrics))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := readSamples(bytes.NewReader(text), "mine", unitContainer, func(string) bool { return true })
		if err != nil && len(all) > 0 {
			t.Error("samples beside an error")
		}
		for _, s := range all {
			if s.At.UnixMilli() == 0 {
				t.Error("a sample without a time")
			}
		}
		_, _ = readStamps(bytes.NewReader(text))
	})
}

// What others' containers cost, of which a full node has hundreds.
func BenchmarkSamples(b *testing.B) {
	var text bytes.Buffer
	for i := range 300 {
		text.WriteString(strings.ReplaceAll(metrics, `pod="go-1"`, `pod="other-`+strings.Repeat("x", i%10)+`"`))
	}
	text.WriteString(metrics)
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := readSamples(bytes.NewReader(text.Bytes()), "mine", unitContainer, func(pod string) bool { return pod == "go-1" }); err != nil {
			b.Fatal(err)
		}
	}
}
