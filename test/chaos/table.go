package chaos

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Result is what one attempt showed.
type Result struct {
	Plan
	// Late: the run had ended, or the target had not begun, when the fault was due.
	Late      bool
	Intervals Intervals
	Left      int // things that the run left for `millicore clean`
	Remained  int // things that were left after it
	Failed    bool
}

// resultMark begins a result in a log.
const resultMark = "result of the attempt: "

// Logged is the result for a log, from which Results reads it.
func (r *Result) Logged() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // it is only of figures and texts
	}
	return resultMark + string(text)
}

// Results are the results in the log of a campaign, which may have ended before its table.
func Results(log string) (all []Result, err error) {
	for line := range strings.Lines(log) {
		_, text, found := strings.Cut(line, resultMark)
		if !found {
			continue
		}
		var r Result
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// row is a line of the table.
type row struct {
	plan                            Plan
	runs, late, lost, left, remains int
	failed                          int
}

// Table is a table of results in Markdown, with a line for each case of a platform in the
// order of its cases.
func Table(results []Result) string {
	rows := map[string]*row{}
	for _, r := range results {
		name := r.Platform + r.Name()
		if rows[name] == nil {
			rows[name] = &row{plan: r.Plan}
		}
		of := rows[name]
		of.runs++
		of.lost += r.Intervals.Lost
		of.left += r.Left
		of.remains += r.Remained
		if r.Late {
			of.late++
		}
		if r.Failed {
			of.failed++
		}
	}
	var sorted []*row
	for _, of := range rows {
		sorted = append(sorted, of)
	}
	slices.SortFunc(sorted, func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.plan.Platform, b.plan.Platform),
			cmp.Compare(slices.Index(cases(a.plan.Platform), a.plan.Case), slices.Index(cases(b.plan.Platform), b.plan.Case)))
	})
	var out strings.Builder
	fmt.Fprintln(&out, "| platform | fault | runs | too late | lost intervals | left for `clean` | left after `clean` | failed |")
	fmt.Fprintln(&out, "|---|---|---:|---:|---:|---:|---:|---:|")
	sum := row{}
	for _, of := range sorted {
		fmt.Fprintf(&out, "| %s | %s | %d | %d | %d | %d | %d | %d |\n", of.plan.Platform, of.plan.Name(), of.runs, of.late, of.lost, of.left, of.remains, of.failed)
		sum.runs, sum.late, sum.lost, sum.left = sum.runs+of.runs, sum.late+of.late, sum.lost+of.lost, sum.left+of.left
		sum.remains, sum.failed = sum.remains+of.remains, sum.failed+of.failed
	}
	fmt.Fprintf(&out, "| **all** | | %d | %d | %d | %d | %d | %d |\n", sum.runs, sum.late, sum.lost, sum.left, sum.remains, sum.failed)
	return out.String()
}
