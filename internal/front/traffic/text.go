package traffic

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Text writes a result: the answer, its latencies, and what failed; with details also the
// other sections of hey, whether the generator was the limit, and what flags mean.
func Text(w io.Writer, url string, r *Result, kept []Kept, details bool, out display.Terminal) error {
	var b strings.Builder
	b.WriteString(first(url, r, kept, details, out) + "\n")
	if details {
		b.WriteString(summaryText(r, out))
	}
	b.WriteString(latencies(r, out))
	b.WriteString(kinds(r, out))
	b.WriteString(sessions(r, out))
	if details {
		b.WriteString(bars(r, out))
	}
	if details || r.Client.Good < r.Cell.Requests || len(r.Client.Status) > 1 {
		b.WriteString(answers(r, out))
	}
	if details {
		b.WriteString(generator(r, out))
	}
	b.WriteString(replayed(r, out))
	b.WriteString(server(r, out))
	b.WriteString(thresholds(kept, out))
	if details {
		for _, text := range flagged(r.Cell, summary.FlagFewTrials) {
			fmt.Fprintf(&b, "%s\n", out.Paint(out.Wrap("! "+text, ""), display.Warning))
		}
	} else {
		fmt.Fprint(&b, out.Line(fmt.Sprintf("%s requests in %s s · %s", display.Grouped(r.Cell.Requests), display.Figure(r.Length.Seconds()), loadOf(r)), display.Quiet))
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// ofTheAnswer are the flags of which the answer speaks, and one that has no meaning for a single
// load.
var ofTheAnswer = []summary.Flag{summary.FlagFewTrials, summary.FlagSentLate, summary.FlagGeneratorLimited, summary.FlagBusyNeighbour, summary.FlagBusyHypervisor}

// flagged is what the flags of a cell mean, without some of them.
func flagged(c *summary.Cell, without ...summary.Flag) (texts []string) {
	for _, word := range c.Flags {
		if text := narrative.FlagText(word, c); text != "" && !slices.Contains(without, word) {
			texts = append(texts, text)
		}
	}
	return texts
}

// first is the answer, with what to change.
func first(url string, r *Result, kept []Kept, details bool, out display.Terminal) string {
	a := judged(answer.OfLoad(r.Cell, display.Plain(url)), kept)
	if text := hint(r); text != "" {
		a.Do = text
	}
	if text := hiddenStall(r); text != "" {
		a.Caveats = append([]string{text}, a.Caveats...)
	}
	if text := leftOut(r.Addresses); text != "" {
		a.Caveats = append(a.Caveats, text)
	}
	if !details {
		a.Caveats = append(a.Caveats, flagged(r.Cell, ofTheAnswer...)...)
	}
	a.Caveats = a.Caveats[:min(len(a.Caveats), 2)]
	lines := a.Lines()
	text := out.Line(lines[0], display.Strong)
	for _, line := range lines[1:] {
		text += out.Line(line, display.Normal)
	}
	for _, caveat := range a.Caveats {
		text += out.Line("! "+caveat, display.Warning)
	}
	return text
}

// judged is an answer with which thresholds are met: the missed ones, if any are, or those that
// are too close to tell. If all are met there is nothing to do.
func judged(a answer.Answer, kept []Kept) answer.Answer {
	by := map[summary.Outcome][]string{}
	for _, k := range kept {
		by[k.Outcome] = append(by[k.Outcome], k.Threshold)
	}
	switch {
	case len(kept) == 0:
	case len(by[summary.Missed]) > 0:
		a.What += " It misses " + phrase.List(by[summary.Missed]) + "."
	case len(by[summary.Met]) == len(kept):
		a.What += " It meets " + phrase.List(by[summary.Met]) + "."
		a.Why, a.Do = "", "nothing: it meets what is asked."
	case len(by[summary.TooClose]) > 0:
		a.What += " Too close to tell whether it meets " + phrase.List(by[summary.TooClose]) + "."
	}
	return a
}

// hint says what to change if most answers had a status that is not good; "" if they had not.
func hint(r *Result) string {
	most, n := "", int64(0)
	for _, code := range slices.Sorted(maps.Keys(r.Client.Status)) {
		if r.Client.Status[code] > n {
			most, n = code, r.Client.Status[code]
		}
	}
	if r.Client.Good > 0 || 2*n <= r.Cell.Requests {
		return ""
	}
	switch most {
	case "301", "302", "303", "307", "308":
		return "use --follow, or count redirects as good with --status " + most + ": most answers were these."
	case "401", "403", "407":
		return "send credentials with -H 'Name: value', --basic-env or --bearer-env: most answers were " + most + "."
	case "404":
		return "check the path of the URL: most answers were 404."
	case "405":
		return "set another method with -m: most answers were 405."
	}
	if said := r.Client.Said[most]; said != "" {
		return fmt.Sprintf("look into the service's log: most calls ended with %s%s.", most, display.Said(said))
	}
	return ""
}

// hiddenStall says that the percentiles of a closed loop hide a stall; "" if they do not.
// Users wait while the service stalls and send nothing, so that each of them counts one
// slow request (coordinated omission). Of a constant rate, as many requests are slow as the
// stall takes of the time: p99 shows it from 1% on.
func hiddenStall(r *Result) string {
	c := r.Cell
	if c.Load.Kind != "closed" || c.Load.Users == nil || c.Load.Stages || c.LatencyMS == nil || !(c.LatencyMS.P99 > 0) || r.Length <= 0 {
		return ""
	}
	stall := time.Duration(farAboveP99 * c.LatencyMS.P99 * float64(time.Millisecond))
	waited := 0.0
	for bar := range r.Client.Latency.Bars() {
		if from := time.Duration(bar.From) * time.Microsecond; from > stall {
			waited += from.Seconds() * float64(bar.Count)
		}
	}
	share := waited / (*c.Load.Users * r.Length.Seconds())
	if share < 0.01 {
		return ""
	}
	return fmt.Sprintf("The service stalled for %s of the time, which p99 of a closed loop hides: measure with --rate.", display.Share(min(share, 1)))
}

// farAboveP99 is how many times p99 a request takes that met a stall, not a queue.
const farAboveP99 = 5
