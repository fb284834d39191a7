package html

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/test/corpus"
	"github.com/millicore/millicore/test/sample"
	"github.com/millicore/millicore/test/testkit"
)

// laidOut are the reports whose layout is examined: each kind of record, and simulated
// experiments with many cells of long names.
func laidOut(t *testing.T) map[string]results.Results {
	return map[string]results.Results{
		"comparison":              sample.Procs(),
		"claims":                  sample.WithClaims(sample.Procs()),
		"runs":                    sample.Runs(),
		"ramp":                    sample.Ramp(),
		"search":                  sample.WithProfiles(sample.Search()),
		"bounds":                  sample.Bounds(),
		"scaled":                  sample.Scaled(),
		"failed":                  sample.Failed(),
		"hostile":                 sample.Hostile(),
		"benchmark":               sample.Benchmarks(6),
		"few benchmarks":          sample.Benchmarks(2),
		"long":                    sample.Long(),
		"6 cells":                 simulated(t, "two-of-six-better"),
		"12 cells":                simulated(t, "twelve-identical"),
		"6 cells searched":        simulated(t, "search-identical", "v: [", "v: [C, D, E, F, ", "repeats: 6", "repeats: 2"),
		"6 cells on a ramp":       simulated(t, "ramp-identical", "v: [", "v: [C, D, E, F, ", "repeats: 6", "repeats: 1"),
		"12 cells of six limits":  simulated(t, "twelve-identical", "vary: {", "vary: {cpu: [250m, 500m, \"1\", 1500m, \"2\", \"4\"], ", "[A, B, C, D, E, F, G, H, I, J, K, L]", "[A, B]", "cpu: 1}", "cpu: \"${cpu}\"}"),
		"dependencies that block": simulated(t, "dependency-reported"),
	}
}

// simulated is a simulated experiment whose file was changed: services and values have
// long names, and some strings are replaced by others.
func simulated(t *testing.T, name string, replaced ...string) results.Results {
	t.Helper()
	cases := corpus.Cases()
	at := slices.IndexFunc(cases, func(c corpus.Case) bool { return c.Name == name })
	if at < 0 {
		t.Fatalf("there is no case %q", name)
	}
	c := cases[at]
	for i := 0; i+1 < len(replaced); i += 2 {
		if !strings.Contains(c.File, replaced[i]) {
			t.Fatalf("%s has no %q:\n%s", name, replaced[i], c.File)
		}
		c.File = strings.Replace(c.File, replaced[i], replaced[i+1], 1)
	}
	c.File = strings.ReplaceAll(c.File, "\n  a: {", "\n  checkout-and-payment-of-the-shop: {")
	c.File = regexp.MustCompile(`\b([A-L])([,\]])`).ReplaceAllString(c.File, "workers-per-instance-$1$2")
	dir := filepath.Join(t.TempDir(), "record")
	if err := c.Write(dir, 3); err != nil {
		t.Fatalf("%v\n%s", err, c.File)
	}
	d, err := results.Open(record.Own, dir)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// widths are those of a desktop, a tablet and a phone, with the height of their windows.
var widths = []int64{1400, 1000, 400}

// On each screen and in each theme no text is clipped or lies over another one, and no page
// shows an identifier. A theme sets colours only: with few samples each width has one.
func TestEachKindOfPage(t *testing.T) {
	all := laidOut(t)
	themes := testkit.Samples(1, 2, 2)
	b := newBrowser(t)
	for name, d := range all {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.screen(widths[0], false)
			b.open(d)
			for i, width := range widths {
				for k := range themes {
					b.nothingIsClippedOrOverlaps(width, (i+k)%2 == 1)
				}
				for _, one := range eval[[]string](b, canvasProblems) {
					t.Errorf("%d px: %s", width, one)
				}
			}
			b.showsNoIdentifiers()
			if bad := b.complaints(); len(bad) > 0 {
				t.Errorf("the page complains: %q", bad)
			}
		})
	}
}

func (b *browser) nothingIsClippedOrOverlaps(width int64, dark bool) {
	b.t.Helper()
	b.screen(width, dark)
	for state, open := range map[string]string{"as opened": "false", "with all details": "true"} {
		bad := after[[]string](b, "document.querySelectorAll('details').forEach(d => { d.open = "+open+" }); await new Promise(done => setTimeout(done))", layoutProblems)
		for _, one := range bad[:min(len(bad), 8)] {
			b.t.Errorf("%d px, dark %v, %s: %s", width, dark, state, one)
		}
	}
}

// layoutProblems lists the texts that are beyond the page, clipped by an element around
// them, or drawn over a text of another block.
const layoutProblems = `(() => {
  const problems = [], boxes = [], page = document.documentElement.clientWidth;
  const inline = (e) => /^(inline|contents)$/.test(getComputedStyle(e).display);
  const blockOf = (e) => { while (inline(e)) e = e.parentElement; return e; };
  const named = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (e.getAttribute("class") ? "." + e.getAttribute("class").trim().replace(/\s+/g, ".") : "");
  // The boxes above an element that can clip it, the innermost first.
  const known = new Map([[document.body, []]]);
  const clips = (e) => {
    if (known.has(e)) return known.get(e);
    const s = getComputedStyle(e), above = clips(e.parentElement);
    let all = above;
    if (!inline(e) && !(e instanceof SVGElement) && (s.overflowX !== "visible" || s.overflowY !== "visible")) {
      const o = e.getBoundingClientRect(), left = o.left + e.clientLeft, top = o.top + e.clientTop;
      all = [{ e, s, left, right: left + e.clientWidth, top, bottom: top + e.clientHeight }, ...above];
    }
    known.set(e, all);
    return all;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const of = node.parentElement;
    if (!node.data.trim() || of.closest("script, style, noscript, .visually-hidden") || !of.checkVisibility({ visibilityProperty: true, opacityProperty: true, contentVisibilityAuto: true })) continue;
    const range = document.createRange(), text = node.data.trim().replace(/\s+/g, " ").slice(0, 50);
    range.selectNodeContents(node);
    for (const r of range.getClientRects()) {
      if (r.width < 0.5 || r.height < 0.5) continue;
      const place = JSON.stringify(text) + " in " + named(of);
      if (r.left < -0.5 || r.right > page + 0.5) problems.push(place + " is beyond the page: " + r.left.toFixed(0) + " to " + r.right.toFixed(0) + " of " + page);
      for (const { e: up, s, left, right, top, bottom } of clips(of)) {
        if (s.overflowX !== "visible" && (r.left < left - 1 || r.right > right + 1)) problems.push(place + " is clipped by " + named(up) + ": " + r.left.toFixed(0) + " to " + r.right.toFixed(0) + " of " + left.toFixed(0) + " to " + right.toFixed(0));
        if (/hidden|clip/.test(s.overflowY) && (r.top < top - 2 || r.bottom > bottom + 2)) problems.push(place + " is cut off at the top or bottom by " + named(up));
        if (/auto|scroll/.test(s.overflowY) && (r.top > bottom || r.bottom < top)) { r.hidden = true; break; } // scrolled out of sight
      }
      if (!r.hidden) boxes.push({ r, of: blockOf(of), place });
    }
  }
  boxes.sort((a, b) => a.r.top - b.r.top);
  boxes.forEach((a, i) => {
    for (let k = i + 1; k < boxes.length && boxes[k].r.top < a.r.bottom - 2; k++) {
      const b = boxes[k];
      if (a.of === b.of) continue;
      const wide = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left), high = Math.min(a.r.bottom, b.r.bottom) - b.r.top;
      if (wide > 1 && high > 2) problems.push(a.place + " and " + b.place + " overlap by " + wide.toFixed(0) + " × " + high.toFixed(0) + " px");
    }
  });
  if (document.documentElement.scrollWidth > innerWidth) problems.push("the page is " + (document.documentElement.scrollWidth - innerWidth) + " px wider than the screen");
  return problems;
})()`

// canvasProblems draws every chart once more, and lists the texts that leave its canvas or
// lie over one another.
const canvasProblems = `(async () => {
  const problems = [], drawn = Object.entries(millicore.panels).map(([id, u]) => {
    const ctx = u.ctx, boxes = [];
    ctx.fillText = function (text, x, y) {
      const m = ctx.measureText(text), t = ctx.getTransform();
      if (String(text).trim() && t.b === 0) boxes.push({ text, left: t.e + t.a * (x - m.actualBoundingBoxLeft), right: t.e + t.a * (x + m.actualBoundingBoxRight), top: t.f + t.d * (y - m.actualBoundingBoxAscent), bottom: t.f + t.d * (y + m.actualBoundingBoxDescent) });
      CanvasRenderingContext2D.prototype.fillText.apply(ctx, arguments);
    };
    u.redraw();
    return { id, ctx, boxes };
  });
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (const { id, ctx, boxes } of drawn) {
    delete ctx.fillText;
    if (boxes.length === 0) problems.push(id + " has no text");
    boxes.forEach((a, i) => {
      if (a.left < -1 || a.right > ctx.canvas.width + 1 || a.top < -1 || a.bottom > ctx.canvas.height + 1) problems.push(id + ": " + JSON.stringify(a.text) + " leaves the canvas");
      for (const b of boxes.slice(i + 1)) {
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2) problems.push(id + ": " + JSON.stringify(a.text) + " and " + JSON.stringify(b.text) + " overlap");
      }
    });
  }
  return problems;
})()`

// identifiers are words with underscores, which belong into files that programs read.
var identifiers = regexp.MustCompile(`\b[a-z0-9]+(?:_[a-z0-9]+)+\b`)

// showsNoIdentifiers takes the code out of the page.
func (b *browser) showsNoIdentifiers() {
	b.t.Helper()
	shown := after[string](b, "document.querySelectorAll('details').forEach(d => { d.open = true }); document.querySelectorAll('code').forEach(c => c.remove())", "document.body.innerText")
	if found := identifiers.FindAllString(shown, -1); len(found) > 0 {
		b.t.Errorf("the page shows %q", found)
	}
}

// The answer and the limits are on the first screen, and on a phone throttling and the
// slow tail are the first figures of a cell.
func TestTheAnswerComesFirst(t *testing.T) {
	b := newBrowser(t)
	for _, width := range widths {
		b.screen(width, false)
		b.open(sample.WithProfiles(sample.Search()))
		for what, of := range map[string]string{"the answer": "h1", "the setup": ".setup"} {
			if end := eval[float64](b, "document.querySelector('"+of+"').getBoundingClientRect().bottom"); end > 700 {
				t.Errorf("%d px: %s ends at %v px", width, what, end)
			}
		}
		if got := eval[string](b, "document.querySelector('.setup').innerText"); !strings.Contains(got, "limit 1\u00a0CPU and 256\u00a0MiB") || !strings.Contains(got, "objective") {
			t.Errorf("%d px: the setup reads %q", width, got)
		}
		if high := eval[float64](b, "Math.max(0, ...[...document.querySelectorAll('.note')].map(n => n.getBoundingClientRect().height))"); width > 400 && high > 40 {
			t.Errorf("%d px: a line of findings is %v px high", width, high)
		}
	}
	const order = `[...document.querySelectorAll('.cells tbody tr:first-child > td:not(.setting)')].filter(e => e.offsetHeight)
	  .sort((a, b) => { const p = a.getBoundingClientRect(), q = b.getBoundingClientRect(); return p.top - q.top || p.left - q.left }).map(e => e.dataset.head).slice(0, 2).join()`
	if got := eval[string](b, order); got != "throttled,slow tail is mostly" {
		t.Errorf("on a phone the first figures are %q", got)
	}
	if got := eval[string](b, "[...document.querySelectorAll('#panels .panel')].sort((a, b) => a.offsetTop - b.offsetTop)[0].dataset.panel"); !strings.HasPrefix(got, "throttled") {
		t.Errorf("on a phone the first panel over time is %q", got)
	}
}
