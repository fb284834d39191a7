package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Block is a piece of a report in text.
type Block interface{ block() }

// Headline is the answer: what was found, the lines about why and what to do, and what
// qualifies these.
type Headline struct {
	Answer         string
	Lines, Caveats []string
}

// Paragraph is a text in a tone; a strong one is a heading.
type Paragraph struct {
	Text string
	Tone display.Tone
}

// List is a list of statements.
type List []Item

// Item is a statement: its name, which stands out, and its text. Quiet items belong to
// the heading; others have a mark.
type Item struct {
	Name, Text string
	Tone       display.Tone
	Bare       bool // without a mark
}

// Facts are named statements under a title.
type Facts struct {
	Title string
	Facts []Fact
}

// Claims are the published claims with their verdicts.
type Claims struct {
	Title string
	All   []Claim
}

func (Headline) block()  {}
func (Paragraph) block() {}
func (List) block()      {}
func (Facts) block()     {}
func (Claims) block()    {}
func (Table) block()     {}

const (
	// manyExplained is the number of cells above which a text does not explain them.
	manyExplained = 12
	// barWidth is the length of a bar of characters.
	barWidth = 24
)

// Blocks are the report as a terminal shows it: the answer, the table that it rests on, the
// profiles, and the conditions of the run.
func (r *Report) Blocks() []Block {
	blocks := append([]Block{r.headline()}, r.tables(!r.Searched)...)
	if len(r.Claims) > 0 {
		var verdicts List
		for i := range r.Claims {
			c := &r.Claims[i]
			_, tone := c.Mark()
			verdicts = append(verdicts, Item{Name: string(c.Verdict), Text: c.Says, Tone: tone})
		}
		blocks = append(blocks, verdicts)
	}
	for i := range r.Profiles { // somebody asked for them
		p := &r.Profiles[i]
		blocks = append(blocks, Facts{Title: p.Name, Facts: p.facts(len(r.Profiles) >= manyProfiled)})
	}
	return append(blocks, r.conditions()[:2])
}

// Whole is the report in text: the answer with its evidence, the facts of the
// run, and all that is known of each cell.
func (r *Report) Whole() []Block {
	blocks := []Block{r.headline(), r.conditions()}
	if len(r.Claims) > 0 {
		blocks = append(blocks, Claims{"Published claims: " + r.ClaimCount, r.Claims})
	}
	blocks = append(blocks, r.tables(true)...)
	blocks = append(blocks, r.explained()...)
	for _, t := range r.Differences {
		blocks = append(blocks, t)
	}
	if r.Untested != "" {
		blocks = append(blocks, Paragraph{Text: r.Untested})
	}
	if notes := r.notes(); len(notes) > 0 {
		blocks = append(blocks, notes)
	}
	return blocks
}

func (r *Report) headline() Headline {
	lines := r.Answer.Lines()
	return Headline{Answer: lines[0], Lines: lines[1:], Caveats: r.Answer.Caveats}
}

// conditions are the facts of the run, its setup and its host.
func (r *Report) conditions() List {
	var facts List
	for _, texts := range [][]string{r.Run, r.Setup, r.Host} {
		if len(texts) > 0 {
			facts = append(facts, Item{Text: strings.Join(texts, " · "), Tone: display.Quiet})
		}
	}
	return facts
}

// tables are those of the cells, of their levels, and of records of special shapes.
func (r *Report) tables(levels bool) []Block {
	var blocks []Block
	for i, t := range slices.Concat([]Table{r.Cells, r.Levels}, r.Sheets) {
		if t.Rows() > 0 && (levels || i != 1) {
			blocks = append(blocks, t)
		}
		if i == 0 && r.CellsNote != "" {
			blocks = append(blocks, Paragraph{Text: r.CellsNote, Tone: display.Quiet})
		}
	}
	return blocks
}

// explained are the statements about each cell. Cells that have no breaking point for one
// reason, and nothing else, are named together.
func (r *Report) explained() []Block {
	var blocks []Block
	unfound := map[string]int{} // the block with a reason
	for i := range r.Details {
		d := &r.Details[i]
		if at, ok := unfound[d.Unfound]; ok && d.Unfound != "" && d.Causes == nil {
			same := blocks[at].(Facts)
			blocks[at] = Facts{Title: same.Title + ", " + d.Name, Facts: d.Explained[:1]}
			continue
		}
		facts := append(slices.Clone(d.Explained), tailFact(d.Causes, d.TailLoad)...)
		for k := range r.Profiles {
			if p := &r.Profiles[k]; p.Cell == i {
				facts = append(facts, p.facts(len(r.Profiles) >= manyProfiled)...)
			}
		}
		if len(facts) > 0 {
			if d.Unfound != "" && len(facts) == len(d.Explained) {
				unfound[d.Unfound] = len(blocks)
			}
			blocks = append(blocks, Facts{Title: d.Name, Facts: facts})
		}
	}
	if len(blocks) > manyExplained {
		return []Block{Paragraph{Text: "Why each cell breaks where it does, and what its slow tail is made of, is in report.html and summary.json."}}
	}
	return blocks
}

// notes are the findings, without those that the table and the explanations of searches
// have, and the warnings.
func (r *Report) notes() List {
	var all List
	for _, f := range r.Findings {
		if f.Searched {
			continue
		}
		tone := display.Normal
		if f.Warning {
			tone = display.Warning
		}
		all = append(all, Item{Name: f.Title, Text: f.First(), Tone: tone})
	}
	for _, f := range r.Flags {
		all = append(all, Item{Name: f.Label + " (" + f.Who + ")", Text: f.Text, Tone: display.Warning})
	}
	return all
}

// tailFact draws what a slow tail at a load is made of; it is empty if that is not known.
func tailFact(c *summary.Causes, load string) []Fact {
	if c == nil {
		return nil
	}
	parts := narrative.Parts(c)
	if !c.Divided() {
		return []Fact{{Name: "slow tail", Text: narrative.TailBasis(c) + "; too few to divide: " + display.Grouped(summary.FewestForShares) + " are needed"}}
	}
	if len(parts) == 0 {
		return nil
	}
	var legend []string
	for _, p := range parts {
		legend = append(legend, p.Fill+" "+p.Text()+" "+p.Long)
	}
	return []Fact{{Name: "slow tail", Text: strings.TrimSpace(textBar(parts) + " " + load)}, {Text: strings.Join(legend, ", ")}, {Text: narrative.TailBasis(c)}}
}

// textBar draws shares as a bar of characters, each cause with its own. Every cause
// has at least one.
func textBar(all []narrative.Part) string {
	widths := make([]int, len(all))
	left := barWidth
	for i, p := range all {
		widths[i] = max(1, int(math.Round(p.Value*barWidth)))
		left -= widths[i]
	}
	widest := slices.Index(widths, slices.Max(widths)) // takes what rounding left
	widths[widest] = max(1, widths[widest]+left)
	var b strings.Builder
	for i, p := range all {
		b.WriteString(strings.Repeat(p.Fill, widths[i]))
	}
	return b.String()
}

// tailFacts divide the slow tail.
func tailFacts(c *summary.Causes) []Fact {
	facts := []Fact{
		{Name: "from " + narrative.QuantileName(c.Quantile) + " on", Text: display.WithUnit(c.FromMS)},
		{Name: "requests", Text: display.Grouped(int64(c.Requests))},
		{Name: "on average", Text: display.WithUnit(c.MeanMS)},
	}
	if c.OfFewTrials() {
		facts = append(facts, Fact{Name: "mostly of", Text: fmt.Sprintf("%d of %d trials", c.MostIn, c.Trials)})
	}
	for _, p := range narrative.Parts(c) {
		facts = append(facts, Fact{Name: p.Long, Text: p.Text()})
		if p.Name == "throttling" && c.ThrottledDirectly > 0 {
			facts = append(facts, Fact{Name: "within throttle windows", Text: display.Share(c.ThrottledDirectly)})
		}
	}
	return facts
}
