package report

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// Table is one table of a report, the same for every output.
type Table struct {
	Title   string
	Lead    string // what it shows, in a sentence; on the page
	Columns []Column
	About   []int // the index of the cell that each row is about; nil: no cell
	Most    int   // a terminal shows no more rows than this; 0: any number
}

// Column is declared once and rendered by every output.
type Column struct {
	Head, Unit string
	Kind       Kind
	Cells      []Cell
	// Notes is the head of the cells' notes; "": each note explains itself. A
	// terminal shows the notes beside the figures, the page below them.
	Notes string
	Rank  Rank
	// NotesRank is the rank of the notes.
	NotesRank Rank
	Scale     Scale // of pictures
	Early     bool  // it follows the name where the fields of a row stand below one another
}

// Kind is how a column looks.
type Kind int

const (
	Figure  Kind = iota // stands right, decimal points aligned
	Main                // the figure that answers
	Mixed               // likewise, but its rows have different units: no points are aligned
	Word                // stands left
	Name                // names the row
	Setting             // a varied setting, part of the name
	Group               // the name of several rows, written once
	Flags               // warnings
	Tail                // the main cause of the slow tail, and on the page all of them
	Picture             // a range on a scale
)

// Rank is the order in which a narrow terminal leaves columns out: the highest first.
type Rank int

const (
	Kept     Rank = 0  // never left out
	PageOnly Rank = 10 // on the page and in no text
)

// Cell is a field of a table.
type Cell struct {
	Text  string
	Note  string // its interval, or what it is a part of
	Tone  display.Tone
	Flags []string        // warnings one by one
	Range *Range          // of a picture
	Tail  *summary.Causes // of a slow tail
}

// Range is a figure with its ends, to be drawn.
type Range struct {
	Value     *float64
	Low, High *float64  // High is nil if there is no upper end
	Points    []float64 // the figures of the trials
	Claimed   *Bound    // the claimed side
	Bar       bool      // from 0 to the figure
	Label     string    // in words, for those who cannot see it
}

// Bound is the end of the values that a claim allows.
type Bound struct {
	At    float64
	Above bool // the values above are claimed
}

// Scale maps the ranges of a column to places. A scale without extent draws nothing.
type Scale struct {
	From, To  float64
	Mid, High string // labels; "": none
}

// Drawn reports whether the scale has an extent.
func (s Scale) Drawn() bool { return s.To > s.From && !math.IsInf(s.To-s.From, 0) }

// scaleTo is a scale from 0, so that lengths compare, to a round number at or above
// all values.
func scaleTo(top float64, write func(float64) string) Scale {
	if !(top > 0) || math.IsInf(top, 0) {
		return Scale{}
	}
	top = Round(top, 1, 1.5, 2, 3, 4, 6, 8)
	return Scale{To: top, Mid: write(top / 2), High: write(top)}
}

// Round returns the next of some numbers from 1 to 10, times a power of ten.
func Round(v float64, numbers ...float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range numbers {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// each returns the fields of a column, one per row.
func each[R any](rows []R, of func(R) Cell) []Cell {
	cells := make([]Cell, len(rows))
	for i, r := range rows {
		cells[i] = of(r)
	}
	return cells
}

// words returns the fields of a column that has no more than texts.
func words[R any](rows []R, of func(R) string) []Cell {
	return each(rows, func(r R) Cell { return Cell{Text: of(r)} })
}

// noted adds notes to a column.
func (c Column) noted(head string, notes []string, rank Rank) Column {
	c.Notes, c.NotesRank = head, rank
	for i := range c.Cells {
		c.Cells[i].Note = notes[i]
	}
	return c
}

// Rows is the number of rows.
func (t *Table) Rows() int {
	if len(t.Columns) == 0 {
		return 0
	}
	return len(t.Columns[0].Cells)
}

// measured leaves out the columns in which nothing was measured.
func (t *Table) measured() {
	t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool {
		return !slices.ContainsFunc(c.Cells, func(one Cell) bool { return one.Text != display.Absent })
	})
}
