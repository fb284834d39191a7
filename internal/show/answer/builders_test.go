package answer_test

import "github.com/millicore/millicore/internal/analysis/summary"

import "github.com/millicore/millicore/test/sample"

func ptr[T any](v T) *T { return &v }

// change is what a case is about; package sample has the builders.
type change = sample.Change

var (
	agentLimited  = sample.AgentLimited
	aims          = sample.Asked
	available     = sample.Available
	below100      = sample.Below100
	beside        = sample.Beside
	boundsAt      = sample.BoundsAt
	breaksBetween = sample.BreaksBetween
	causesOf      = sample.CausesOf
	cellOf        = sample.CellOf
	completed     = sample.Completed
	disturbedBy   = sample.DisturbedBy
	eachAt        = sample.EachAt
	endedBy       = sample.EndedBy
	flagged       = sample.Flagged
	frames        = sample.OfFrames
	held          = sample.Held
	holds         = sample.Holds
	kept          = sample.Kept
	kneeAt        = sample.KneeAt
	limitedTo     = sample.LimitedTo
	noPoint       = sample.NoPoint
	numbered      = sample.Numbered
	open          = sample.Open
	p99At         = sample.P99At
	procs         = sample.ProcsCell
	rate          = sample.Rate
	recoversAt    = sample.RecoversAt
	replicas      = sample.Replicas
	searches      = sample.SearchesOf
	setTrials     = sample.SetTrials
	silent        = sample.Silent
	staged        = sample.Staged
	tailOf        = sample.TailOf
	testedAt      = sample.TestedAt
	throttled     = sample.Throttled
	trials        = sample.TrialsAt
	warned        = sample.Warned
	within        = sample.Within
)

func usesOfLimit(share float64) func(*summary.Cell) {
	return func(c *summary.Cell) { c.CPU.OfLimit = &share }
}
