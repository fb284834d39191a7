// Package paragraphs has the findings of doctor with their evidence, in words for people, and
// what could not be read.
package paragraphs

import (
	"fmt"
	"io"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
)

// Write writes the findings, the most severe first, each with its evidence and the change;
// then what could not be read.
func Write(w io.Writer, host inspect.Host, findings []doctor.Finding, t display.Terminal) error {
	var b strings.Builder
	b.WriteString(of(findings, t))
	for i, line := range unseen(host) {
		if i == 0 && len(findings) > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(t.Line(line, display.Quiet))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// of writes findings, separated by empty lines.
func of(findings []doctor.Finding, t display.Terminal) string {
	var all []string
	for _, f := range findings {
		all = append(all, paragraph(f, t))
	}
	return strings.Join(all, "\n")
}

// tones are the levels' colours.
var tones = [...]display.Tone{doctor.Info: display.Quiet, doctor.Warning: display.Warning, doctor.Critical: display.Bad}

// margin is the width of the level's column.
const margin = 10

// paragraph writes one finding, with the level in a column of its own.
func paragraph(f doctor.Finding, t display.Terminal) string {
	indent := strings.Repeat(" ", margin)
	title := wrap(t, fmt.Sprintf("%s %s: %s", display.Plain(f.Name), Where(&f), display.Plain(f.Title)), indent)
	level := f.Level.String()
	head := t.Paint(level, tones[f.Level]) + strings.Repeat(" ", margin-len(level)) + t.Paint(title[margin:], display.Strong)
	var b strings.Builder
	b.WriteString(head + "\n")
	for _, line := range f.Evidence {
		b.WriteString(hanging(t, "· "+display.Plain(line), indent) + "\n")
	}
	if f.Mechanism != "" {
		b.WriteString(hanging(t, "· cause: "+display.Plain(f.Mechanism), indent) + "\n")
	}
	for _, line := range f.Fix {
		b.WriteString(hanging(t, "→ "+display.Plain(line), indent) + "\n")
	}
	if f.Expect != (doctor.Effect{}) {
		b.WriteString(hanging(t, fmt.Sprintf("→ expected at saturation: %s; at 60%% of that load: %s; confidence %s",
			f.Expect.Saturated, f.Expect.Ordinary, f.Confidence), indent) + "\n")
	}
	return b.String()
}

// Where is the process of a finding, in brackets.
func Where(f *doctor.Finding) string {
	if f.Process != nil && f.Process.Node != "" {
		return fmt.Sprintf("(pid %d on %s)", f.PID, display.Plain(f.Process.Node))
	}
	return fmt.Sprintf("(pid %d)", f.PID)
}

// hanging wraps a text that begins with a mark of two columns; the other lines are
// indented by the mark's width.
func hanging(t display.Terminal, text, indent string) string {
	mark, rest := text[:strings.IndexByte(text, ' ')+1], text[strings.IndexByte(text, ' ')+1:]
	wrapped := wrap(t, rest, indent+"  ")
	return indent + mark + wrapped[len(indent)+2:]
}

// wrap breaks a text at spaces only, so that names of groups and commands with
// hyphens stay whole and can be copied.
func wrap(t display.Terminal, text, indent string) string {
	const hyphen = "\u2011" // non-breaking
	text = t.Wrap(strings.ReplaceAll(text, "-", hyphen), indent)
	return strings.ReplaceAll(text, hyphen, "-")
}

// mostRefused bounds the lines about hostile processes: a user can start any number.
const mostRefused = 10

// unseen returns a line for each hostile process, then the reasons why parts of other
// processes could not be read, each with the number of processes.
func unseen(host inspect.Host) []string {
	var lines, order []string
	refused := 0
	about := map[string][]int{}
	for _, p := range host.Processes {
		if p.Refused != "" {
			if refused++; refused <= mostRefused {
				lines = append(lines, fmt.Sprintf("Could not inspect %d %s: %s.", p.PID, display.Plain(p.Name), display.Plain(p.Refused)))
			}
			continue
		}
		for _, reason := range reasons(p.Unseen) {
			if about[reason] == nil {
				order = append(order, reason)
			}
			about[reason] = append(about[reason], p.PID)
		}
	}
	if more := refused - mostRefused; more > 0 {
		lines = append(lines, fmt.Sprintf("Could not inspect %s more; --json has the reasons.", plural(more)))
	}
	for _, reason := range order {
		who := fmt.Sprintf("Process %d", about[reason][0])
		if n := len(about[reason]); n > 1 {
			who = fmt.Sprintf("%d processes", n)
		}
		lines = append(lines, fmt.Sprintf("%s: %s.", who, reason))
	}
	return lines
}

func plural(processes int) string {
	if processes == 1 {
		return "1 process"
	}
	return display.Grouped(int64(processes)) + " processes"
}

// reasons joins the parts that could not be read for the same reason.
func reasons(all []string) []string {
	const verb = " could not be read: "
	var order []string
	what := map[string][]string{}
	for _, text := range all {
		part, why, ok := strings.Cut(display.Plain(text), verb)
		if !ok {
			part, why = "", part
		}
		if what[why] == nil {
			order = append(order, why)
		}
		what[why] = append(what[why], part)
	}
	for i, why := range order {
		if parts := what[why]; parts[0] != "" {
			order[i] = strings.Join(parts, ", ") + verb + why
		}
	}
	return order
}
