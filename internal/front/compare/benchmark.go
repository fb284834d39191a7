package compare

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/record"
)

// Benchmarks writes the trials of one record's cells in the Go benchmark format
// (golang.org/design/14313-benchmark-format), a line a trial, so that two
// records' files can be given to benchstat. What would keep benchstat from
// putting them side by side, such as the folder, is left out.
func Benchmarks(w io.Writer, s *Selection) error {
	var all []*Cell
	for i := range s.Cells {
		all = append(all, &s.Cells[i])
	}
	if err := s.read(all); err != nil {
		return err
	}
	out := benchmarks{out: benchfmt.NewWriter(w)}
	out.units()
	for _, c := range all {
		out.cell(c, nameOf(c, nil), machine(c.Run))
	}
	return out.err
}

// BenchmarkMatches writes both sides into one stream, distinguished by the
// configuration key side: benchstat -col side FILE compares them. Cells that are
// held against each other have one name: what they have in common.
func BenchmarkMatches(w io.Writer, matches []Match) error {
	out := benchmarks{out: benchfmt.NewWriter(w)}
	out.units()
	for _, side := range []string{"A", "B"} {
		for i := range matches {
			c, other := &matches[i].A, &matches[i].B
			if side == "B" {
				c, other = other, c
			}
			// Any key that differs, other than side, would part the two into tables
			// of their own; so both carry the machine of A.
			out.cell(c, nameOf(c, other), append(machine(matches[i].A.Run), config("side", side)))
		}
	}
	return out.err
}

// benchmarks writes until the first error.
type benchmarks struct {
	out *benchfmt.Writer
	err error
}

func (b *benchmarks) write(r benchfmt.Record) {
	if b.err == nil {
		if err := b.out.Write(r); err != nil {
			b.err = fmt.Errorf("write the trials as benchmarks: %w", err)
		}
	}
}

// units declare for benchstat which direction is better.
func (b *benchmarks) units() {
	for i := range metrics {
		better := "lower"
		if metrics[i].HigherIsBetter() {
			better = "higher"
		}
		b.write(&benchfmt.UnitMetadata{
			UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: metrics[i].bench, Key: "better"},
			OrigUnit:        metrics[i].bench, Value: better,
		})
	}
}

func (b *benchmarks) cell(c *Cell, name string, keys []benchfmt.Config) {
	if c.Plan.Load.Benchmark {
		b.measured(c, name, keys)
		return
	}
	for i := range c.Figures.PerTrial {
		result := &benchfmt.Result{Config: keys, Name: benchfmt.Name(name), Iters: 1}
		for k := range metrics {
			m := &metrics[k]
			if v := m.Of(&c.Figures.PerTrial[i]); v != nil {
				result.Values = append(result.Values, benchfmt.Value{Value: digits(*v * m.benchBy), Unit: m.bench})
			}
		}
		if len(result.Values) > 0 {
			b.write(result)
		}
	}
}

// digits rounds to what a figure can hold, so that no line ends in a row of nines.
func digits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}

// machine is the configuration that both records of a comparison share.
func machine(r *record.Run) []benchfmt.Config {
	keys := []benchfmt.Config{config("goos", r.Host.OS), config("goarch", r.Host.Arch), config("experiment", r.Experiment.Name)}
	if r.Host.CPUModel != "" {
		keys = append(keys, config("cpu", r.Host.CPUModel))
	}
	if r.Host.Kernel != "" {
		keys = append(keys, config("kernel", r.Host.Kernel))
	}
	return keys
}

func config(key, value string) benchfmt.Config {
	return benchfmt.Config{Key: key, Value: []byte(strings.TrimSpace(display.Plain(value))), File: true}
}

// nameOf is a benchmark's name: the service and each varied setting, those that
// other has too.
func nameOf(c, other *Cell) string {
	name := "Millicore"
	if other == nil || other.Plan.Service.Name == c.Plan.Service.Name {
		name += part("service", c.Plan.Service.Name)
	}
	for _, s := range c.Plan.Vary {
		if other == nil || setting(other, s.Name) == setting(c, s.Name) {
			name += part(s.Name, setting(c, s.Name))
		}
	}
	return name
}

func setting(c *Cell, name string) string {
	for _, s := range c.Plan.Vary {
		if s.Name == name && s.Value != nil {
			return *s.Value
		}
	}
	return "unset"
}

// unfit is what a part of a benchmark's name may not hold: space and the slash
// between parts. A number at the end after a - would be read as GOMAXPROCS.
var (
	unfit     = regexp.MustCompile(`[\s/=]+|[^[:print:]]+`)
	endNumber = regexp.MustCompile(`-(\d+)$`)
)

func part(key, value string) string {
	clean := func(text string) string { return unfit.ReplaceAllString(text, "_") }
	value = endNumber.ReplaceAllString(clean(value), "_$1")
	if value == "" {
		value = strconv.Quote("")
	}
	return "/" + clean(key) + "=" + value
}
