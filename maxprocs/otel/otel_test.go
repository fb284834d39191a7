package otel

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/maxprocs"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// collected are the metrics of a reader, one a line: name, unit, kind, value.
func collected(t *testing.T, reader sdk.Reader) string {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Gauge[float64]:
				lines = append(lines, fmt.Sprintf("%s %s gauge %v", m.Name, m.Unit, d.DataPoints[0].Value))
			case metricdata.Sum[float64]:
				lines = append(lines, fmt.Sprintf("%s %s counter %v, monotonic %v", m.Name, m.Unit, d.DataPoints[0].Value, d.IsMonotonic))
			}
		}
	}
	return strings.Join(lines, "\n")
}

func TestRegister(t *testing.T) {
	used, limit := 2500*time.Millisecond, int64(4096)
	reader := sdk.NewManualReader()
	stats := maxprocs.Stats{
		GOMAXPROCS: 2,
		Limit:      maxprocs.CPULimit{State: maxprocs.Limited, CPUs: 1.5},
		Throttling: &maxprocs.Throttling{Periods: 10, Throttled: 1500 * time.Millisecond},
		CPUTime:    &used,
		Memory:     maxprocs.Memory{Limit: &limit},
	}
	registration, err := register(sdk.NewMeterProvider(sdk.WithReader(reader)), func() maxprocs.Stats { return stats })
	if err != nil {
		t.Fatal(err)
	}
	const want = `maxprocs.gomaxprocs {thread} gauge 2
maxprocs.cpu.limit {cpu} gauge 1.5
maxprocs.cpu.periods {period} counter 10, monotonic true
maxprocs.cpu.throttled_periods {period} counter 0, monotonic true
maxprocs.cpu.throttled s counter 1.5, monotonic true
maxprocs.cpu.time s counter 2.5, monotonic true
maxprocs.memory.limit By gauge 4096`
	if got := collected(t, reader); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	stats = maxprocs.Stats{GOMAXPROCS: 8}
	if got := collected(t, reader); got != "maxprocs.gomaxprocs {thread} gauge 8" {
		t.Errorf("not measured: got\n%s", got)
	}
	if err := registration.Unregister(); err != nil {
		t.Fatal(err)
	}
	if got := collected(t, reader); got != "" {
		t.Errorf("after Unregister: got\n%s", got)
	}
}

func TestRegisterOfThisProcess(t *testing.T) {
	reader := sdk.NewManualReader()
	if _, err := Register(sdk.NewMeterProvider(sdk.WithReader(reader))); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("maxprocs.gomaxprocs {thread} gauge %d", runtime.GOMAXPROCS(0))
	if got := collected(t, reader); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant %s first", got, want)
	}
}
