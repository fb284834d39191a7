package top

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/millicore/millicore/internal/base/tui"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// column is one column of the table.
type column struct {
	head   string
	by     Order // the order that sorts by it; unsorted: none
	least  int   // minimum width
	most   int   // maximum width
	left   bool  // left-aligned
	judged bool  // it is about throttling, and coloured by it
	text   func(*Service) string
}

// unsorted is no order.
const unsorted Order = -1

// Indices of columns.
const (
	service = iota
	pid
	runtimeName
	parallelism
	ofLimit
	waiting
	ofMemory
	throttledPeriods
	stoppedTime
	spark
)

var columns = []column{
	service:     {"SERVICE", ByName, 12, 40, true, false, func(s *Service) string { return display.Plain(s.Name) }},
	pid:         {"PID", unsorted, 7, 7, false, false, func(s *Service) string { return strconv.Itoa(s.Main.PID) }},
	runtimeName: {"RUNTIME", unsorted, 11, 15, true, false, runtimeOf},
	parallelism: {"PAR/LIMIT", unsorted, 9, 9, false, false, parallelismOfLimit},
	ofLimit: {"CPU", ByCPU, 5, 6, false, false, func(s *Service) string {
		used, ok := s.OfLimit()
		if !ok {
			return display.Absent
		}
		return display.Share(used)
	}},
	waiting: {"WAIT", unsorted, 5, 5, false, false, func(s *Service) string {
		cpus, ok := s.Waited()
		if !ok {
			return display.Absent
		}
		return fmt.Sprintf("%.2f", cpus)
	}},
	ofMemory: {"MEM", unsorted, 4, 5, false, false, func(s *Service) string {
		share, ok := s.OfMemory()
		if !ok {
			return display.Absent
		}
		return display.Share(share)
	}},
	throttledPeriods: {"THROTTLED", ByThrottling, 10, 11, false, true, func(s *Service) string {
		c := s.Recent()
		if len(s.looks) == 0 {
			return display.Absent
		}
		return fmt.Sprintf("%d of %d", c.Throttled, c.Periods)
	}},
	stoppedTime: {"STOPPED", ByStop, 8, 8, false, true, func(s *Service) string {
		if each := s.Recent().PerThrottled(); each > 0 {
			return display.Figure(float64(each)/float64(time.Millisecond)) + " ms"
		}
		return display.Absent
	}},
	spark: {"", unsorted, 8, kept, true, true, sparkline},
}

const (
	// gap is the space between columns.
	gap = 2
	// usual is the width of names in plain lines, whose columns have fixed widths.
	usual = 26
)

// What a narrow terminal leaves out, the least important first. Plain lines have no need of
// sparklines, whose history is the lines above, and keep the PID, by which scripts find the
// process.
var (
	screenDrops = []int{pid, spark, stoppedTime, runtimeName, waiting, ofMemory, ofLimit}
	lineDrops   = []int{spark, stoppedTime, runtimeName, waiting, ofMemory, ofLimit, pid}
)

// grid are the visible columns with their widths.
type grid []sized

type sized struct {
	column
	at    int // index in columns
	width int
}

// fitted chooses columns and widths for a terminal of the given width; 0: no limit.
// longest is the width of the longest name. If the terminal is too narrow, the columns of
// drops are left out, in their order. Remaining space goes to names, then to other
// columns, then to sparklines.
func fitted(width, longest int, drops []int) grid {
	var g grid
	for at, c := range columns {
		g = append(g, sized{c, at, c.least})
	}
	if width <= 0 {
		for i := range g {
			g[i].width = g[i].most
		}
		g[service].width = usual
		return g
	}
	for _, least := range drops {
		if g.total() > width {
			g = slices.DeleteFunc(g, func(c sized) bool { return c.at == least })
		}
	}
	const short = 18 // most names are not longer
	grow := func(at, to int) {
		for i := range g {
			if c := &g[i]; c.at == at {
				c.width = max(c.width, min(to, c.most, c.width+width-g.total()))
			}
		}
	}
	grow(service, min(short, longest))
	for _, at := range []int{runtimeName, ofLimit, throttledPeriods} {
		grow(at, columns[at].most)
	}
	grow(service, longest)
	grow(spark, kept)
	return g
}

// total is the width of a line.
func (g grid) total() int {
	all := -gap
	for _, c := range g {
		all += c.width + gap
	}
	return all
}

// head is the table's header, with a mark at the column by which it is sorted.
func (g grid) head(order Order) string {
	return g.line(func(c column) string {
		if order != unsorted && c.by == order {
			return c.head + "▾"
		}
		return c.head
	}, nil)
}

// row is a service's line.
func (g grid) row(s *Service, paint func(column, string) string) string {
	return g.line(func(c column) string { return c.text(s) }, paint)
}

// line formats a line of the table; paint may colour the text of a column.
func (g grid) line(text func(column) string, paint func(column, string) string) string {
	var b strings.Builder
	for i, c := range g {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		t := text(c.column)
		if c.left {
			t = newest(t, c)
		}
		pad := strings.Repeat(" ", max(0, c.width-display.Width(t)))
		if c.left {
			t += pad
		} else {
			t = pad + t
		}
		if i == len(g)-1 {
			t = strings.TrimRight(t, " ")
		}
		if paint != nil {
			t = paint(c.column, t)
		}
		b.WriteString(t)
	}
	return strings.TrimRight(b.String(), " ")
}

// newest cuts a text to its column: a name at its end, a sparkline at its beginning,
// where the oldest values are.
func newest(text string, c sized) string {
	if c.at == spark {
		if over := display.Width(text) - c.width; over > 0 {
			return ansi.TruncateLeft(text, over, "")
		}
		return text
	}
	return ansi.Truncate(text, c.width, "…")
}

// runtimeOf is the runtime with its version.
func runtimeOf(s *Service) string {
	if s.Main.Info.Runtime == runtimes.Unknown {
		return display.Absent
	}
	return display.Plain(s.Main.Info.String())
}

// parallelismOfLimit is "8/2": the parallelism and the limit in CPUs. A predicted
// parallelism has the prefix ~.
func parallelismOfLimit(s *Service) string {
	text := display.Absent
	if p := s.Main.Info.Parallelism; p.Value > 0 {
		text = strconv.Itoa(p.Value)
		if p.Source == runtimes.Predicted {
			text = "~" + text
		}
	}
	return text + "/" + strconv.FormatFloat(s.Main.CPU.CPUs, 'g', 3, 64)
}

// sparkline shows the share of throttled periods of each look: a dot if no period was
// counted, and the lowest bar only if none was throttled.
func sparkline(s *Service) string {
	const bars = "▁▂▃▄▅▆▇█"
	var b strings.Builder
	for _, c := range s.looks {
		share := math.NaN()
		if c.Periods > 0 {
			share = c.Share()
		}
		b.WriteRune(tui.SparkBar(share, 1, bars))
	}
	return b.String()
}

// cut truncates a line to a width; 0: no limit.
func cut(text string, width int) string {
	if width > 0 {
		text = ansi.Truncate(text, width, "")
	}
	return text
}

// tone is the colour of a service's throttling.
func (s *Service) tone() display.Tone {
	switch share := s.Recent().Share(); {
	case share >= 0.25:
		return display.Bad
	case share >= 0.05:
		return display.Warning
	}
	return display.Normal
}
