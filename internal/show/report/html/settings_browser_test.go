package html

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/test/sample"
)

// A setting with hyphens stands on one line on every screen, in tables, sentences and legends,
// and what is copied is the setting as a program takes it.
func TestASettingIsNotBrokenAtItsHyphens(t *testing.T) {
	const setting = "--max-old-space-size=200"
	d := sample.Settings()
	d.Summary.Experiment.Server.Settings[1].Label = setting
	b := newBrowser(t)
	b.screen(widths[0], false)
	b.open(d)
	// The lines of each text that has the setting, found without what keeps it together.
	const broken = `(() => {
	  const all = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
	    if (node.parentElement.closest("script, style, svg") || !node.parentElement.checkVisibility()) continue;
	    const match = /-\u2060?-\u2060?max-\u2060?old-\u2060?space-\u2060?size=200/.exec(node.data);
	    if (!match) continue;
	    const range = document.createRange();
	    range.setStart(node, match.index);
	    range.setEnd(node, match.index + match[0].length);
	    const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0.5).map((r) => Math.round(r.top)));
	    all.push(lines.size + " lines in " + node.parentElement.outerHTML.slice(Math.max(0, match.index - 60), match.index + 80));
	  }
	  return all;
	})()`
	for _, width := range []int64{1400, 1000, 500, 360} {
		b.screen(width, false)
		found := after[[]string](b, "document.querySelectorAll('details').forEach(d => { d.open = true })", broken)
		if len(found) < 4 {
			t.Errorf("%d px: the setting stands in %q only", width, found)
		}
		for _, one := range found {
			if !strings.HasPrefix(one, "1 lines") {
				t.Errorf("%d px: %s", width, one)
			}
		}
	}
	const copied = `(() => {
	  getSelection().selectAllChildren(document.querySelector("main"));
	  const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
	  document.querySelector("main").dispatchEvent(event);
	  return ["text/plain", "text/html"].map((type) => event.defaultPrevented ? event.clipboardData.getData(type) : getSelection().toString());
	})()`
	for _, text := range eval[[]string](b, copied) {
		if !strings.Contains(text, setting) || strings.Contains(text, joiner) {
			t.Errorf("copied are %d characters, with the setting: %v, with joiners: %v", len(text), strings.Contains(text, setting), strings.Contains(text, joiner))
		}
	}
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains: %q", bad)
	}
}

// The loads that a search held have the width of the page, and all of them are in sight.
func TestTheLoadsHeldAreInSight(t *testing.T) {
	b := newBrowser(t)
	b.screen(widths[0], false)
	b.open(sample.Search())
	const hidden = `(() => {
	  const region = [...document.querySelectorAll("#details .group")].find((g) => g.querySelector("h3").textContent === "Loads held").querySelector(".scroll");
	  return [region.scrollHeight - region.clientHeight, region.getBoundingClientRect().width];
	})()`
	got := after[[]float64](b, "document.querySelectorAll('details').forEach(d => { d.open = true })", hidden)
	if got[0] > 1 || got[1] < 800 {
		t.Errorf("%v px of the loads are out of sight, and they are %v px wide", got[0], got[1])
	}
}

// A load is drawn as undecided if it neither met nor missed the objective, and the legend
// says so.
func TestALoadThatIsNotDecidedLooksSo(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	const lead, ink = `document.getElementById('breaking-lead').textContent`,
		`(() => { const c = millicore.panels.breaking.ctx.canvas, d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i] * (i % 9973) + d[i + 3]; return n })()`
	b.open(sample.Search())
	filled := eval[float64](b, ink)
	if got := eval[string](b, lead); strings.Contains(got, "not decided") {
		t.Errorf("all loads are decided, and the lead says %q", got)
	}
	d := sample.Search()
	for i := range d.Summary.Cells {
		for k := range d.Summary.Cells[i].Steps {
			if s := &d.Summary.Cells[i].Steps[k]; s.Met != nil && *s.Met {
				s.Met = nil
				break
			}
		}
	}
	b.open(d)
	if got := eval[string](b, lead); !strings.Contains(got, "Dotted ones are not decided") {
		t.Errorf("the lead says %q", got)
	}
	if eval[float64](b, ink) == filled {
		t.Error("a load that is not decided is drawn as one that met the objective")
	}
	b.keep("undecided")
}
