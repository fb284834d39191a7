package html

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/test/sample"
)

// after does something in the page and gives an expression's value once it has
// been painted.
func after[T any](b *browser, do, expression string) T {
	b.t.Helper()
	return eval[T](b, "(async () => { "+do+"; await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); return "+expression+" })()")
}

// shownTips are the texts of all tips in sight.
const shownTips = `[...document.querySelectorAll('.tip:not([hidden])')].map(t => t.textContent).join(' / ')`

func TestTheCurveTellsOfItsMarks(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.Search())
	const pointAt = `const u = millicore.panels.breaking, o = u.over.getBoundingClientRect();
	  const at = (x, y) => u.over.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: o.left + x, clientY: o.top + y}));`
	for _, c := range []struct {
		what, do string
		want     []string
	}{
		{"a load", "at(u.valToPos(u.data[1][0][0], 'x'), u.valToPos(u.data[1][1][0], 'y'))", []string{"procs=1", "50.0 requests/s", "meets the objective"}},
		{"the highest load of procs=6", "const i = u.data[3][0].length - 1; at(u.valToPos(u.data[3][0][i], 'x'), u.valToPos(u.data[3][1][i], 'y'))", []string{"procs=6", "misses the objective"}},
		{"a breaking point", "at(u.valToPos(352, 'x'), 4)", []string{"breaks at 352 requests/s (338–366), limited by its CPU limit", "procs=1"}},
		{"a knee", "at(u.valToPos(208, 'x'), u.valToPos(9.4, 'y') + 18)", []string{"p99 starts to rise at 59% of the limit", "procs=1"}},
	} {
		got := after[string](b, pointAt+c.do, shownTips)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the tip does not say %q: %q", c.what, want, got)
			}
		}
	}
	if got := after[string](b, pointAt+"at(u.valToPos(20, 'x'), 4)", shownTips); got != "" {
		t.Errorf("where nothing is, a tip says %q", got)
	}
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains: %q", bad)
	}
}

// The objective and the limits are lines across their plots, with their figures.
func TestLinesAreMarked(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.Search())
	// Each panel is drawn once more, and what goes onto its canvas is noted: texts,
	// and how many dashed lines reach the plot's right edge.
	const marks = `const marks = {};
	  for (const [id, u] of Object.entries(millicore.panels)) {
	    const seen = marks[id] = {texts: [], lines: 0}, ctx = u.ctx, text = ctx.fillText, line = ctx.lineTo;
	    ctx.fillText = (what, ...at) => { seen.texts.push(String(what)); text.call(ctx, what, ...at); };
	    ctx.lineTo = (x, y) => { if (ctx.getLineDash().length && x === u.bbox.left + u.bbox.width) seen.lines++; line.call(ctx, x, y); };
	    u.redraw();
	  }`
	type drawn struct {
		Texts []string `json:"texts"`
		Lines int      `json:"lines"`
	}
	got := after[map[string]drawn](b, marks, "marks")
	for panel, want := range map[string]string{"breaking": "objective 250 ms", "cpu": "limit 1 CPU", "memory": "limit 256 MiB"} {
		if at := got[panel]; at.Lines != 1 || !slices.Contains(at.Texts, want) {
			t.Errorf("%s has %d lines and the texts %q; want one line, %q", panel, at.Lines, at.Texts, want)
		}
	}
	if at := got["rate"]; at.Lines != 0 {
		t.Errorf("the panel of rates, which have no limit, has %d lines", at.Lines)
	}
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains: %q", bad)
	}
}

func TestBarsAndSlowestRequestsAreDrawnAndTell(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.Search())
	const painted = `(all) => [...document.querySelectorAll(all)].every(e => { const r = e.getBoundingClientRect(), s = getComputedStyle(e); return r.width > 0.5 && r.height > 3 && (s.backgroundColor !== 'rgba(0, 0, 0, 0)' || s.backgroundImage !== 'none') })`
	for _, all := range []string{".tails .seg", ".tailcell .seg", ".req .run", ".req i"} {
		if n := eval[int](b, "document.querySelectorAll('"+all+"').length"); n == 0 {
			t.Errorf("the page has no %s", all)
		}
		if !eval[bool](b, "("+painted+")('"+all+"')") {
			t.Errorf("some %s is not to be seen", all)
		}
	}
	const hover = `document.querySelector('%s').dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 600, clientY: 300}))`
	for of, wants := range map[string][]string{
		`.tail[data-cell="2"] .seg`:  {"throttling", "74–92% of the slow tail"},
		`.gantt[data-cell="2"] .req`: {"due at", "sent after", "answered after 395", "throttled for"},
	} {
		got := after[string](b, strings.Replace(hover, "%s", of, 1), shownTips)
		for _, want := range wants {
			if !strings.Contains(strings.ReplaceAll(got, "\u00a0", " "), want) {
				t.Errorf("the tip of %s does not say %q: %q", of, want, got)
			}
		}
	}
	if got := after[string](b, "document.body.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))", shownTips); got != "" {
		t.Errorf("beside everything a tip says %q", got)
	}
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains: %q", bad)
	}
}

// The panels stand side by side and one below the other: the longer one of two requests is
// the longer line in each of them, and lines of more than a few pixels are in proportion.
func TestALongerRequestIsALongerLine(t *testing.T) {
	d := sample.Search()
	for i, longest := range []float64{144, 784, 1195, 120} {
		c := d.Summary.Cells[i].Causes
		for k, factor := 0, longest/c.Slowest[0].DoneMS; k < len(c.Slowest); k++ {
			r := &c.Slowest[k]
			r.SentMS, r.DoneMS, r.Windows = r.SentMS*factor, r.DoneMS*factor, nil
		}
	}
	b := newBrowser(t)
	b.screen(1400, false)
	b.open(d)
	for _, width := range []int64{1400, 400} {
		b.screen(width, false)
		got := eval[[][2]float64](b, `[...document.querySelectorAll('.req')].map(r => [parseFloat(r.querySelector('.end').textContent.replace(',', '')), r.querySelector('.run').getBoundingClientRect().right - r.querySelector('.track').getBoundingClientRect().left])`)
		if len(got) < 8 {
			t.Fatalf("%d requests are drawn", len(got))
		}
		longest := slices.MaxFunc(got, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
		for _, r := range got {
			if want := longest[1] * r[0] / longest[0]; math.Abs(r[1]-want) > 1 {
				t.Errorf("at %d pixels: a request of %v ms is a line of %.1f pixels, want %.1f", width, r[0], r[1], want)
			}
		}
	}
}

func TestProfilesAreDrawnAndTell(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.WithProfiles(sample.Search()))
	if got := eval[string](b, "[...document.querySelectorAll('.profile')].map(e => e.dataset.cell).join('')"); got != "02" {
		t.Errorf("profiles of the cells %s are shown, want those of 0 and 2", got)
	}
	const lengths = `[...document.querySelectorAll('.profile[data-cell="0"] .bars b')].map(e => e.getBoundingClientRect().width / e.parentElement.getBoundingClientRect().width)`
	got := eval[[]float64](b, lengths)
	if len(got) != 6 || math.Abs(got[0]-0.931) > 0.02 || math.Abs(got[1]-0.018) > 0.01 {
		t.Errorf("the bars are %v of their room long, want 0.931, 0.018 and four more", got)
	}
	text := eval[string](b, "document.querySelector('#profiles').innerText")
	for _, want := range []string{"an extra trial that is not part of the figures", "golang.isPrime", "go tool pprof -http=: profiles/cell-000/cpu.pprof"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	tip := after[string](b, `document.querySelector('.profile[data-cell="0"] tbody tr').dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 300, clientY: 300}))`, shownTips)
	for _, want := range []string{"golang/prime.go:14", "93% of the CPU time in itself", "96% with what it calls"} {
		if !strings.Contains(tip, want) {
			t.Errorf("the tip does not say %q: %q", want, tip)
		}
	}
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains: %q", bad)
	}
}

func TestTheLegendHidesAllOfACell(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.WithProfiles(sample.Search()))
	const seen = `[...document.querySelectorAll('.tail, .gantt, .profile')].filter(e => e.getClientRects().length || [...e.children].some(c => c.getClientRects().length)).map(e => e.dataset.cell).join('')`
	if got := eval[string](b, seen); got != "0123012302" {
		t.Errorf("at first the cells %s are shown", got)
	}
	if got := after[string](b, "document.querySelectorAll('.chip')[2].click()", seen); got != "0130130" {
		t.Errorf("with one hidden the cells %s are shown", got)
	}
}

func TestTheObjectiveFollowsTheQuantile(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.Search())
	const lead, pixels = `document.getElementById('breaking-lead').textContent`,
		`(() => { const c = millicore.panels.breaking.ctx.canvas, d = millicore.panels.breaking.ctx.getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) n++; return n })()`
	if got := eval[string](b, lead); !strings.Contains(got, "knee") || strings.Contains(got, "The objective is about") {
		t.Errorf("for p99 the lead says %q", got)
	}
	before := eval[int](b, pixels)
	got := after[string](b, "document.querySelector('[data-value=p50]').click()", lead)
	if strings.Contains(got, "knee") || !strings.Contains(got, "The objective is about p99") {
		t.Errorf("for p50 the lead says %q", got)
	}
	if eval[int](b, pixels) == before {
		t.Error("the chart is the same for p50 as for p99")
	}
	if got := after[int](b, "document.querySelector('[data-value=linear]').click()", "millicore.panels.breaking.scales.y.distr"); got == 3 {
		t.Error("the scale stays logarithmic")
	}
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains: %q", bad)
	}
}
