// Package otel observes this process's figures under its container's limits
// ([maxprocs.Stats]) for OpenTelemetry. It is a module of its own, so that package maxprocs
// requires no client:
//
//	import maxprocsotel "github.com/millicore/millicore/maxprocs/otel"
//
//	registration, err := maxprocsotel.Register(otel.GetMeterProvider())
//
// The instruments are asynchronous: small files are read at each collection. A figure that
// was not measured is not observed, so that it does not read as 0.
package otel

import (
	"context"

	"github.com/millicore/millicore/maxprocs"
	"github.com/millicore/millicore/maxprocs/internal/metric"
	api "go.opentelemetry.io/otel/metric"
)

// scope is the name of the meter.
const scope = "github.com/millicore/millicore/maxprocs/otel"

// Register makes the instruments, and observes them until the registration is unregistered.
// It is to be called once for a provider.
func Register(provider api.MeterProvider) (api.Registration, error) {
	return register(provider, maxprocs.ReadStats)
}

func register(provider api.MeterProvider, read func() maxprocs.Stats) (api.Registration, error) {
	meter := provider.Meter(scope)
	var instruments []api.Float64Observable // of metric.All
	var all []api.Observable
	for _, m := range metric.All {
		instrument, err := instrumentOf(meter, m)
		if err != nil {
			return nil, err
		}
		instruments, all = append(instruments, instrument), append(all, instrument)
	}
	return meter.RegisterCallback(func(_ context.Context, observer api.Observer) error {
		s := read()
		for i, m := range metric.All {
			if value, measured := m.Value(s); measured {
				observer.ObserveFloat64(instruments[i], value)
			}
		}
		return nil
	}, all...)
}

func instrumentOf(meter api.Meter, m metric.Metric) (api.Float64Observable, error) {
	name, help, unit := "maxprocs."+m.Dotted, api.WithDescription(m.Help), api.WithUnit(m.Unit)
	if m.Counter {
		return meter.Float64ObservableCounter(name, help, unit)
	}
	return meter.Float64ObservableGauge(name, help, unit)
}
