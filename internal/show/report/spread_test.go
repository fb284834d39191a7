package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
)

func TestSpreadsOfDifferentKindsAreMarked(t *testing.T) {
	over, few := procs("1", p99At(150), within(145, 155), trials(145, 147, 150, 151, 153, 155)), procs("2", p99At(160), within(150, 170), trials(151, 168), frames)
	one, none := procs("6", p99At(160), within(150, 170), trials(160), frames), procs("7", p99At(160))
	for name, c := range map[string]struct {
		cells []summary.Cell
		head  string
		want  []string
	}{
		"intervals over trials":  {[]summary.Cell{over, none}, "95%\ninterval", []string{"145–155", ""}},
		"few trials":             {[]summary.Cell{few, few}, "range of\nthe trials", []string{"151–168", "151–168"}},
		"one trial":              {[]summary.Cell{one, one}, "95% by\nframes", []string{"150–170", "150–170"}},
		"intervals and few":      {[]summary.Cell{over, few}, "95% (* range\nof trials)", []string{"145–155", "151–168*"}},
		"intervals and one":      {[]summary.Cell{over, one}, "95% (†\nby frames)", []string{"145–155", "150–170†"}},
		"few and one":            {[]summary.Cell{few, one}, "range († 95%\nby frames)", []string{"151–168", "150–170†"}},
		"intervals, few and one": {[]summary.Cell{over, few, one, none}, "95% (* range\n† by frames)", []string{"145–155", "151–168*", "150–170†", ""}},
		"nothing":                {[]summary.Cell{none, none}, "95%\ninterval", []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			head, cells := spreads(pointers(c.cells), "p99")
			if diff := cmp.Diff(append([]string{c.head}, c.want...), append([]string{head}, cells...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func pointers(cells []summary.Cell) []*summary.Cell {
	var all []*summary.Cell
	for i := range cells {
		all = append(all, &cells[i])
	}
	return all
}
