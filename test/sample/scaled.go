package sample

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/lab/results"
)

// Scaled is a run on Kubernetes without node agents: one cell is scaled
// while its load rises, and loses an agent; the other is throttled by its limit,
// and its agents by theirs.
func Scaled() results.Results {
	d := Procs()
	d.Summary.Experiment.Platform = "kubernetes"
	d.Summary.Cells, d.Summary.Findings = d.Summary.Cells[:2], nil
	grows, fixed := &d.Summary.Cells[0], &d.Summary.Cells[1]
	grows.Limits.MostReplicas, grows.Replicas = 10, &summary.Replicas{Least: 1, Most: 5, Mean: 3.25}
	grows.Generator.Lost, grows.Generator.Limited = 1, true
	grows.Flags = summary.Flags{"agent_lost", "generator_limited", "no_windows"}
	fixed.Generator.ThrottledShare, fixed.Generator.Limited = ptr(0.031), true
	fixed.Flags = summary.Flags{"agent_throttled", "generator_limited", "no_windows"}
	d.Series = slices.DeleteFunc(d.Series, func(s summary.Series) bool { return s.Cell > 1 })
	for i := range d.Series {
		for k := range d.Series[i].Points {
			n := 1.0
			if d.Series[i].Cell == 0 {
				n = float64(1 + k/6)
			}
			d.Series[i].Points[k].Replicas = &n
		}
	}
	return d
}

// Long has one spike, in cell 3.
func Long() results.Results {
	d := Procs()
	first := d.Summary.Cells[0]
	d.Summary.Cells, d.Series = nil, nil
	for cell := range 12 {
		c := first
		n := fmt.Sprint(cell)
		c.Cell, c.Vary, c.Label = cell, map[string]*string{"procs": &n}, "go procs="+n
		d.Summary.Cells = append(d.Summary.Cells, c)
		for trial := range 6 {
			one := summary.Series{Cell: cell, Trial: 6*cell + trial + 1}
			for k := range 7200 {
				v := float64((k*7919 + cell*31 + trial*17) % 997)
				one.Points = append(one.Points, summary.Point{T: float64(k + 1), Phase: "measure", RateRPS: ptr(300 + v), P50: ptr(v), P99: ptr(2 * v), P999: ptr(3 * v),
					CPU: ptr(v / 1000), Memory: ptr(v * 1e5), Availability: ptr(100.0), Throttled: ptr(v / 997), Idle: ptr(0.5)})
			}
			d.Series = append(d.Series, one)
		}
	}
	d.Series[20].Points[4321].P99 = ptr(9000.0)
	return d
}
