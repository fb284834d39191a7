package answer_test

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
)

func TestAnswersBesideANeighbour(t *testing.T) {
	labels := []string{"as it is", "without the CPU limit", "CPU request only"}
	cell := func(service string, millis, request int64, low, at, high, neighbour, generator float64, more ...change) summary.Cell {
		c := cellOf(service, append([]change{breaksBetween(low, at, high, summary.ByThrottling), setTrials(6)}, more...)...)
		if millis > 0 {
			c.Limits.CPUMillis = &millis
		} else {
			c.Limits.CPUMillis = nil
		}
		if request > 0 {
			c.Limits.RequestMillis = &request
		}
		c.Beside = &summary.Beside{Wanted: 2}
		if neighbour > 0 {
			c.Beside.Neighbour, c.Beside.Service, c.Beside.Generator = &neighbour, ptr(2-neighbour-generator), &generator
		}
		return c
	}
	limited := func(neighbour float64, more ...change) summary.Cell {
		return cell("a", 500, 500, 115, 120, 125, neighbour, 0.05, more...)
	}
	once := func(c *summary.Cell) { searches(1)(c); setTrials(1)(c) }
	ended := func(c *summary.Cell) { c.Breaking.AtLeast, c.Breaking.High, c.Breaking.Ended = true, nil, "time" }
	weighs := func(generator float64, more ...change) summary.Cell {
		return cell("c", 0, 500, 155, 160, 170, 1.23, generator, more...)
	}
	free, weight := cell("b", 0, 0, 190, 200, 210, 1.05, 0.2), weighs(0.2)
	none := func(c *summary.Cell) {
		c.Breaking.RateRPS, c.Breaking.Low, c.Breaking.High, c.Breaking.Reason = nil, nil, nil, "it misses the objective even at the lowest load tried"
	}
	got := map[string]string{}
	for name, cells := range map[string][]summary.Cell{
		"it costs and protects":                    {limited(1.49), free, weight},
		"it costs and protects nothing":            {limited(1.25), free, weight},
		"one search of each":                       {limited(1.49, once), free, weighs(0.2, once)},
		"one search of each, and nothing kept":     {limited(1.25, once), free, weighs(0.2, once)},
		"it did not break":                         {limited(1.49, ended), free, weight},
		"the generator took it":                    {limited(1.49), free, weighs(0.25)},
		"it costs nothing":                         {limited(1.49), cell("b", 0, 0, 110, 121, 130, 1.05, 0.02), cell("c", 0, 500, 110, 118, 128, 1.23, 0.02)},
		"neither":                                  {limited(1.25), cell("b", 0, 0, 110, 121, 130, 1.25, 0.02), cell("c", 0, 500, 110, 118, 128, 1.24, 0.02)},
		"the request protects as much":             {limited(1.25), cell("b", 0, 0, 110, 121, 130, 0.82, 0.2), cell("c", 0, 500, 110, 118, 128, 1.24, 0.02)},
		"a request of 1 CPU":                       {limited(1.49), free},
		"one has no breaking point":                {limited(1.49), cell("b", 0, 0, 0, 0, 0, 1.9, 0.02, none), weight},
		"the weights leave it less than its limit": {cell("a", 500, 500, 115, 120, 125, 1.55, 0.05, func(c *summary.Cell) { c.Breaking.LimitedBy = summary.ByHost }), free, weight},
		"none under the limit":                     {cell("a", 500, 500, 0, 0, 0, 1.9, 0.02, none), free, weight},
		"the share was not measured":               {limited(0), free, weight},
	} {
		got[name] = text(server(labels[:len(cells)], cells, nil))
	}
	sentences(t, "neighbour.txt", got)
}
