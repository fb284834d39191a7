package traffic

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/wording"
)

// Threshold is a condition on the result, as in "p99<300ms".
type Threshold struct {
	Text   string
	metric string
	kind   string // of requests; "": all
	below  bool   // the value must be below the bound; otherwise above
	equal  bool   // the bound itself is allowed
	bound  float64
}

// Kept is a threshold and whether the result meets it.
type Kept struct {
	Threshold string   `json:"threshold"`
	Value     *float64 `json:"value"` // ms, percent or requests/s; null: not measured
	Kept      bool     `json:"kept"`  // by the value
	// Outcome is what the requests show: the value has an interval.
	Outcome summary.Outcome `json:"outcome"`
	// Why is the reason of a miss that Value does not show: the value of a latency is
	// that of answered requests, and requests without an answer count as late.
	Why string `json:"why,omitempty"`

	metric string
}

// Text is the value with its unit, or the reason of the miss.
func (k Kept) Text() string {
	switch {
	case k.Why != "" && k.Value == nil:
		return k.Why
	case k.Why != "":
		return display.WithUnit(*k.Value) + "; " + k.Why
	case k.Value == nil:
		return "not measured"
	case k.metric == "errors":
		return display.Figure(*k.Value) + "%"
	case k.metric == "rate":
		return display.Figure(*k.Value) + " requests/s"
	}
	return display.WithUnit(*k.Value)
}

// metrics are the metrics of thresholds, in the order of messages.
var metrics = []string{"p50", "p90", "p95", "p99", "p999", "max", "mean", "errors", "rate"}

var thresholdSyntax = regexp.MustCompile(`^([a-z0-9.]+)(?:\{(.*)\})?\s*(<=|<|>=|>)\s*([0-9.]+)\s*(ns|us|µs|ms|s|%|)$`)

// ParseThreshold parses METRIC<BOUND, or METRIC{KIND}<BOUND for the requests of one kind: a latency with
// its unit, errors (the percentage of requests without a good answer), or rate (good answers per
// second).
func ParseThreshold(text string) (Threshold, error) {
	m := thresholdSyntax.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Threshold{}, fmt.Errorf("threshold %q: write it as p99<300ms, errors<1%% or rate>1000, or of one kind of requests as p99{GET /items}<300ms", text)
	}
	t := Threshold{Text: strings.TrimSpace(text), metric: m[1], kind: m[2], below: m[3][0] == '<', equal: len(m[3]) == 2}
	if t.metric == "p99.9" {
		t.metric = "p999"
	}
	if !slices.Contains(metrics, t.metric) {
		return Threshold{}, fmt.Errorf("threshold %q: the metric %s is not one of %s", text, m[1], strings.Join(metrics, ", "))
	}
	bound, err := strconv.ParseFloat(m[4], 64)
	if err != nil {
		return Threshold{}, fmt.Errorf("threshold %q: %s is not a number", text, m[4])
	}
	unit := m[5]
	switch t.metric {
	case "errors":
		if unit != "%" {
			return Threshold{}, fmt.Errorf("threshold %q: errors are a percentage: write %s%%", text, m[4])
		}
	case "rate":
		if unit != "" {
			return Threshold{}, fmt.Errorf("threshold %q: a rate is in requests per second, without a unit: write %s", text, m[4])
		}
	default:
		length, err := time.ParseDuration(m[4] + unit)
		if err != nil {
			return Threshold{}, fmt.Errorf("threshold %q: a latency needs a unit, as in 300ms", text)
		}
		bound = float64(length) / float64(time.Millisecond)
	}
	t.bound = bound
	return t, nil
}

// ParseThresholds parses all of --threshold.
func ParseThresholds(texts []string) ([]Threshold, error) {
	var all []Threshold
	for _, text := range texts {
		t, err := ParseThreshold(text)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// checkKinds reports a threshold on a kind of requests that a load does not send.
func checkKinds(thresholds []Threshold, load *experiment.Load) error {
	kinds := load.Kinds()
	for _, t := range thresholds {
		switch {
		case t.kind == "" || slices.Contains(kinds, t.kind):
		case len(kinds) == 0:
			return fmt.Errorf("threshold %q: requests are counted by kind only if there are 2 to %d kinds: leave out {%s}", t.Text, experiment.MostKinds, t.kind)
		default:
			slices.Sort(kinds)
			return fmt.Errorf("threshold %q: no request is of the kind %q; the kinds are %s", t.Text, t.kind, strings.Join(slices.Compact(kinds), ", "))
		}
	}
	return nil
}

// Judge reports whether a result meets a threshold, and whether its requests are enough to
// show that: the shares of late and of failed requests have 95% intervals. A metric that was not measured does
// not. As in an objective, a latency is that of all requests: a failed request is
// infinitely late.
func (t Threshold) Judge(r *Result) Kept {
	if t.kind != "" {
		r = r.ofKind(t.kind)
	}
	k := t.kept(r)
	k.Outcome = summary.Missed
	if k.Kept {
		k.Outcome = summary.Met
	}
	if r.Cell.Requests == 0 {
		return k
	}
	n := float64(r.Cell.Requests)
	share, latency := summary.ShareOf(t.metric)
	seen, allowed := float64(t.late(r)), 1-share
	switch {
	case t.metric == "errors":
		seen, allowed = n-float64(r.Client.Good), t.bound/100
	case !latency || share == 1: // a mean, a maximum or a rate is a single figure
		return k
	}
	if low, high := stats.Proportion(seen, n); allowed > 0 && low <= allowed && allowed < high {
		k.Outcome = summary.TooClose
	}
	return k
}

// late counts the requests that are later than a latency's bound.
func (t Threshold) late(r *Result) int64 {
	limit := time.Duration(t.bound * float64(time.Millisecond))
	if t.below != t.equal { // the bound itself counts as late
		limit = signals.Before(limit)
	}
	return r.Client.Latency.Late(limit, r.timeout, r.Cell.Requests-r.Client.Good, r.Client.Timeouts)
}

// kept judges by the value.
func (t Threshold) kept(r *Result) Kept {
	k := Kept{Threshold: t.Text, Value: r.metric(t.metric), metric: t.metric}
	keeps := func(v float64) bool {
		return t.below && v < t.bound || !t.below && v > t.bound || t.equal && v == t.bound
	}
	seen := k.Value != nil && keeps(*k.Value)
	failed := r.Cell.Requests - r.Client.Good
	share, latency := summary.ShareOf(t.metric)
	switch {
	case !latency && t.metric != "mean", r.Cell.Requests == 0:
		k.Kept = seen
		return k
	case t.metric == "mean" && failed > 0:
		k.Kept = keeps(math.Inf(1))
	case t.metric == "mean":
		k.Kept = seen
	default:
		late := t.late(r)
		k.Kept = search.Exceeds(float64(late), float64(r.Cell.Requests), 1-share) != t.below
		if seen && !k.Kept && failed == 0 {
			k.Why = wording.Of(objective.Lateness(late, r.Cell.Requests, time.Duration(t.bound*float64(time.Millisecond))))
		}
	}
	if !k.Kept && failed > 0 && (seen || k.Value == nil) {
		k.Why = wording.Of(objective.Failing(failed, r.Cell.Requests))
	}
	return k
}
