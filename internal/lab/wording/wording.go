// Package wording words findings: each kind in one row of a table. Whoever shows a
// finding, or writes it into a file, takes its words from here, so that a record, a report
// and a comparison have one sentence for it.
package wording

import (
	"fmt"
	"maps"
	"strings"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
)

// table has the words of each kind of finding. It is filled at the start, because the words
// of some findings contain those of others.
var table = map[finding.Kind]func(finding.Finding) string{}

func init() {
	for _, some := range []map[finding.Kind]func(finding.Finding) string{searchWords, limitWords, rampWords, claimWords, objectiveWords, trialWords, disturbanceWords} {
		maps.Copy(table, some)
	}
}

// Of words a finding, for the middle of a sentence; "" if there is nothing to state.
func Of(f finding.Finding) string {
	if f.None() {
		return ""
	}
	return table[f.Kind](f)
}

// Joined words findings: "a; b".
func Joined(all []finding.Finding) string { return phrase.Join(each(all)...) }

// each words findings.
func each(all []finding.Finding) []string {
	words := make([]string, len(all))
	for i, f := range all {
		words[i] = Of(f)
	}
	return words
}

// fixed are words without a figure.
func fixed(words string) func(finding.Finding) string {
	return func(finding.Finding) string { return words }
}

// at words a finding by its load: format has one %s.
func at(format string) func(finding.Finding) string {
	return func(f finding.Finding) string { return fmt.Sprintf(format, load(f.Load)) }
}

// load writes a load that a search chose.
func load(v float64) string { return digits.Significant(v, 4) }

func percent(share float64) string { return fmt.Sprintf("%.3g%%", 100*share) }

// count writes a number of requests.
func count(requests float64) string { return digits.Grouped(fmt.Sprintf("%.0f", requests)) }

// times writes how often something was seen.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func because(f finding.Finding) string { return strings.Join(each(f.Because), "; ") }
