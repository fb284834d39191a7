// Package diagnosis has what `millicore doctor` says: the answer in three lines, a table of
// what should change, and the same for programs, as JSON and as patches. Package doctor
// judges, and has the evidence of each finding in words.
package diagnosis

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/paragraphs"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/internal/show/report/text"
)

// View is how a scan is shown.
type View struct {
	Run        Run
	Details    bool     // each finding with its evidence
	Suppressed int      // findings that the user suppressed, and that are not shown
	Notes      []string // what else is to be said
	Since      *Since   // what differs from a baseline; nil: there is none
	Fleet      *Fleet   // nil: a single host
}

// Write writes the answer and its table. With details it adds each finding with its
// evidence, and what could not be read.
func Write(w io.Writer, host inspect.Host, findings []doctor.Finding, v View, t display.Terminal) error {
	if v.Since != nil {
		findings = v.Since.Found
	}
	findings = v.Fleet.Worst(findings)
	if err := text.Terminal(w, blocks(host, findings, v), t); err != nil || !v.Details {
		return err
	}
	var b strings.Builder
	err := paragraphs.Write(&b, host, findings, t)
	if err == nil && b.Len() > 0 {
		_, err = io.WriteString(w, "\n"+b.String())
	}
	if err != nil {
		return fmt.Errorf("write the findings: %w", err)
	}
	return nil
}

// blocks are the answer, its table, how to verify the first change, and what was inspected.
func blocks(host inspect.Host, findings []doctor.Finding, v View) []report.Block {
	of := Of(host, findings)
	if v.Fleet != nil {
		of = v.Fleet.answer(host, findings)
	}
	if v.Suppressed > 0 {
		of.What = strings.Replace(of.What, "Nothing is mis-sized", "Nothing else is mis-sized", 1)
	}
	if v.Since != nil {
		of.What = v.Since.what(v.Run.Time)
		if len(v.Since.Found) == 0 && v.Since.Same > 0 {
			of.Why, of.Do = "", "nothing new; without --baseline it prints the findings that stay."
		}
		of.Caveats = append(v.Since.caveats(v.Run, host), of.Caveats...)
	}
	blocks := []report.Block{report.Headline{Answer: of.What, Lines: of.Lines()[1:], Caveats: of.Caveats}}
	shown := changes(findings)
	if len(shown) > 0 {
		blocks = append(blocks, newTable(shown, v))
	}
	var rest report.List
	quiet := func(text string) { rest = append(rest, report.Item{Text: text, Tone: display.Quiet}) }
	if v.Since != nil {
		for _, line := range v.Since.gone() {
			quiet(line)
		}
	}
	if len(findings) > 0 && len(findings[0].Fix) > 0 {
		if last := findings[0].Fix[len(findings[0].Fix)-1]; strings.Contains(last, ": millicore try ") {
			quiet(display.Capital(display.Plain(last)))
		}
	}
	said := v.Fleet.inspected(host)
	if n := len(findings) - len(shown); n > 0 {
		said += " " + display.Counted(int64(n), "observation") + " without a change."
	}
	if len(findings) > 0 && !v.Details {
		said += " Evidence: --details."
	}
	quiet(said)
	for _, note := range v.Notes {
		quiet(note)
	}
	return append(blocks, rest)
}

// changes are the findings that recommend a change.
func changes(findings []doctor.Finding) []doctor.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f doctor.Finding) bool { return f.Level == doctor.Info })
}

// Of is the answer about a host: how many processes should change, and the first finding.
func Of(host inspect.Host, findings []doctor.Finding) answer.Answer {
	all := changes(findings)
	if len(all) == 0 {
		return nothing(host)
	}
	var of answer.Answer
	if n := Unread(host); n > 0 {
		of.Caveats = []string{fmt.Sprintf("Not everything could be read of %s (--details).", processes(n))}
	}
	first := &all[0]
	about := map[int]bool{}
	for _, f := range all {
		if (f.Rule == doctor.ShortOfCPU) == (first.Rule == doctor.ShortOfCPU) {
			about[f.PID] = true
		}
	}
	of.What = fmt.Sprintf("%s %s: %s.", display.Plain(first.Name), paragraphs.Where(first), display.Plain(first.Title))
	switch total := processes(len(host.Processes)); {
	case first.Rule == doctor.ShortOfCPU && len(about) > 1:
		of.What = fmt.Sprintf("%d of %s lack CPU that others use; %s", len(about), total, of.What)
	case first.Rule == doctor.ShortOfCPU || len(host.Processes) == 1:
	case len(about) > 1:
		of.What = fmt.Sprintf("%d of %s are mis-sized, the worst is %s", len(about), total, of.What)
	default:
		of.What = fmt.Sprintf("1 of %s is mis-sized. %s", total, of.What)
	}
	if cause, _, _ := strings.Cut(first.Mechanism, ";"); cause != "" {
		of.Why = display.Plain(cause) + "."
	}
	of.Do = display.Plain(first.Action())
	if !strings.Contains(of.Do, " > ") { // the end of a command
		of.Do += "."
	}
	return of
}

// nothing is the answer where no change is recommended.
func nothing(host inspect.Host) answer.Answer {
	switch {
	case Unread(host) > 0:
		return answer.Answer{
			What: fmt.Sprintf("Nothing is mis-sized as far as could be read, which is not everything of %s (--details).", processes(Unread(host))),
			Do:   "run it as root, if it was not.",
		}
	case limited(host) == 0:
		return answer.Answer{What: "Nothing is mis-sized: no process has a CPU limit.", Do: "nothing."}
	case host.Watched == 0:
		return answer.Answer{What: "Nothing is mis-sized; throttling was not watched.", Do: "run it under load, for 10 s or more (--for)."}
	}
	return answer.Answer{What: "Nothing is mis-sized.", Do: "nothing; if it was idle, run it again under load."}
}

// Unread counts the processes that could hide a finding.
func Unread(host inspect.Host) (n int) {
	for i := range host.Processes {
		if p := &host.Processes[i]; p.CPU.State != inspect.Unlimited && (len(p.Unseen) > 0 || p.Refused != "") {
			n++
		}
	}
	return n
}

// newTable has a row for each finding.
func newTable(all []doctor.Finding, v View) report.Table {
	since := v.Since
	column := func(head string, kind report.Kind, rank report.Rank, of func(*doctor.Finding) string) report.Column {
		c := report.Column{Head: head, Kind: kind, Rank: rank}
		for i := range all {
			c.Cells = append(c.Cells, report.Cell{Text: of(&all[i]), Tone: tones[all[i].Level]})
		}
		return c
	}
	share := func(v *float64) string { return display.Maybe(v, display.Share) }
	columns := []report.Column{
		column("level", report.Word, 3, func(f *doctor.Finding) string { return f.Level.String() }),
		column("process", report.Name, report.Kept, func(f *doctor.Finding) string { return display.Plain(f.Name) }),
		column("pid", report.Mixed, report.Kept, func(f *doctor.Finding) string { return fmt.Sprint(f.PID) }),
		column("problem", report.Word, report.Kept, func(f *doctor.Finding) string { return f.Rule.Problem() }),
		column("limit", report.Mixed, 1, func(f *doctor.Finding) string { return f.Limit }),
		column("used", report.Mixed, 1, func(f *doctor.Finding) string { return share(f.Used) }),
		column("throttled", report.Mixed, 2, func(f *doctor.Finding) string { return share(f.Throttled) }),
	}
	if v.Fleet != nil {
		columns = v.Fleet.columns(column)
	}
	if since != nil {
		before := func(f *doctor.Finding) string { return cmp.Or(since.before[f.Fingerprint()], display.Absent) }
		columns = slices.Concat([]report.Column{column("since", report.Word, report.Kept, since.State)}, columns, []report.Column{column("before", report.Mixed, 2, before)})
	}
	return report.Table{Columns: columns}
}

// tones are the levels' colours.
var tones = map[doctor.Level]display.Tone{doctor.Warning: display.Warning, doctor.Critical: display.Bad}

// inspected is what was looked at.
func inspected(host inspect.Host) string {
	said := processes(len(host.Processes)) + " inspected, " + underLimits(host)
	if host.Watched > 0 {
		said += fmt.Sprintf(", watched for %.0f s", host.Watched.Seconds())
	}
	return said + "."
}

func underLimits(host inspect.Host) string {
	n, unseen := limited(host), unknown(host)
	said := fmt.Sprintf("%s of them under a CPU limit", display.Grouped(int64(n)))
	switch {
	case n == 0:
		said = "none under a CPU limit"
	case n == len(host.Processes):
		return "under a CPU limit"
	}
	switch unseen {
	case 0:
		return said
	case len(host.Processes):
		return "CPU limits not known"
	}
	return fmt.Sprintf("%s, limit of %s more not known", said, display.Grouped(int64(unseen)))
}

// limited counts the processes under a CPU limit, unknown those of which it could not be
// read.
func limited(host inspect.Host) int { return in(host, inspect.Limited) }

func unknown(host inspect.Host) int { return in(host, inspect.Unknown) + in(host, "") }

func in(host inspect.Host, state inspect.State) (n int) {
	for i := range host.Processes {
		if host.Processes[i].CPU.State == state {
			n++
		}
	}
	return n
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return display.Grouped(int64(n)) + " processes"
}
