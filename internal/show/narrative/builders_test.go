package narrative

import "github.com/millicore/millicore/test/sample"

func ptr[T any](v T) *T { return &v }

// change is what a case is about; package sample has the builders.
type change = sample.Change

var (
	asked         = sample.Asked
	below100      = sample.Below100
	beside        = sample.Beside
	breaksBetween = sample.BreaksBetween
	cellOf        = sample.CellOf
	disturbedBy   = sample.DisturbedBy
	endedBy       = sample.EndedBy
	flagged       = sample.Flagged
	holds         = sample.Holds
	kneeAt        = sample.KneeAt
	noPoint       = sample.NoPoint
	numbered      = sample.Numbered
	open          = sample.Open
	p99At         = sample.P99At
	procs         = sample.ProcsCell
	recoversAt    = sample.RecoversAt
	searches      = sample.SearchesOf
	staged        = sample.Staged
	tailOf        = sample.TailOf
	testedAt      = sample.TestedAt
	trials        = sample.TrialsAt
	within        = sample.Within
)
