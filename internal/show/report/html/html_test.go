package html

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/test/sample"
)

// Panels that every report with frames has, and those that need a reason.
var (
	alwaysDrawn = []string{"latency-rate", "throttled-rate", "rate", "latency", "cpu", "memory", "throttled", "throttled_ms", "availability", "agent_cpu", "idle", "foreign"}
	whenStaged  = []string{"breaking", "target", "waits", "dependency_cpu:mongodb", "dependency_memory:mongodb"}
	searchDrawn = []string{"breaking", "throttled-rate", "target", "rate", "latency", "cpu", "memory", "throttled", "throttled_ms", "availability", "agent_cpu", "idle", "foreign"}
)

// screens are what the reports are looked at on.
var screens = map[string]struct {
	width int64
	dark  bool
}{"light": {1280, false}, "dark": {1280, true}, "phone": {390, false}, "phone-dark": {390, true}}

// TestPanelsHoldData opens reports in a browser as a user would, in light, dark
// and on a phone.
func TestPanelsHoldData(t *testing.T) {
	b := newBrowser(t)
	for _, c := range []struct {
		name    string
		data    results.Results
		panels  []string
		screens []string
	}{
		{"comparison", sample.Procs(), alwaysDrawn, []string{"light", "dark", "phone", "phone-dark"}},
		{"claims", sample.WithClaims(sample.Procs()), alwaysDrawn, []string{"light", "dark", "phone", "phone-dark"}},
		{"runs", sample.Runs(), []string{"latency-rate"}, []string{"light", "phone-dark"}},
		{"ramp", sample.Ramp(), append(append([]string{}, alwaysDrawn...), whenStaged...), []string{"light", "dark", "phone"}},
		{"search", sample.WithProfiles(sample.Search()), searchDrawn, []string{"light", "dark", "phone", "phone-dark"}},
		{"bounds", sample.Bounds(), []string{"breaking", "throttled-rate"}, []string{"light", "phone-dark"}},
		{"scaled", sample.Scaled(), append(append([]string{}, alwaysDrawn...), "replicas"), []string{"light", "phone"}},
		{"failed", sample.Failed(), nil, []string{"light"}},
		{"many-and-long", sample.Long(), []string{"latency-rate", "rate", "latency", "cpu", "memory", "throttled", "availability", "idle"}, []string{"light", "phone-dark"}},
	} {
		file := write(t, c.data)
		for _, screen := range c.screens {
			t.Run(c.name+"/"+screen, func(t *testing.T) {
				b.t = t
				b.screen(screens[screen].width, screens[screen].dark)
				b.openFile(file)
				b.holdsData(c.panels)
				if over := eval[float64](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					t.Errorf("the page is %v px wider than the screen", over)
				}
				if bad := b.complaints(); len(bad) > 0 {
					t.Errorf("the page complains or fetches: %q", bad)
				}
				b.keep(c.name + "-" + screen)
			})
		}
	}
}

// holdsData checks that exactly the wanted panels are drawn, each with points,
// and with something coloured on its canvas.
func (b *browser) holdsData(want []string) {
	b.t.Helper()
	got := b.panels()
	for _, id := range want {
		p, ok := got[id]
		if !ok {
			b.t.Errorf("panel %q is not drawn", id)
			continue
		}
		if p.Series == 0 || p.Points == 0 {
			b.t.Errorf("panel %q holds no data: %+v", id, p)
		}
		if p.Coloured < 200 {
			b.t.Errorf("panel %q has an empty canvas: %+v", id, p)
		}
	}
	if len(want) == 0 && len(got) > 0 {
		b.t.Errorf("panels are drawn without data: %s", asJSON(got))
	}
}

func TestLegendActsOnAllPanels(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.Procs())
	const shownCells = `JSON.stringify(Object.values(millicore.panels).map(u => [...new Set(u.series.slice(1).filter(s => s.show).map(s => s.cell))].sort()))`
	all := func(want string) string {
		n := eval[int](b, "Object.keys(millicore.panels).length")
		return "[" + strings.TrimSuffix(strings.Repeat(want+",", n), ",") + "]"
	}
	for _, c := range []struct{ what, do, want string }{
		{"at first", "0", "[0,1,2]"},
		{"one hidden", "document.querySelectorAll('.chip')[1].click()", "[0,2]"},
		{"shown again", "document.querySelectorAll('.chip')[1].click()", "[0,1,2]"},
		{"one alone", "document.querySelectorAll('.chip')[2].dispatchEvent(new MouseEvent('dblclick'))", "[2]"},
		{"another way of drawing keeps the choice", "document.querySelector('[data-value=each]').click()", "[2]"},
		{"all again", "document.querySelectorAll('.chip')[2].dispatchEvent(new MouseEvent('dblclick'))", "[0,1,2]"},
	} {
		eval[any](b, "void("+c.do+")")
		if got := eval[string](b, shownCells); got != all(c.want) {
			t.Errorf("%s: panels show the cells %s, want %s in each", c.what, got, c.want)
		}
	}
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains: %q", bad)
	}
}

func TestSwitchesChangeWhatIsDrawn(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.Procs())
	const heading = `[...document.querySelectorAll('.panel h3')].map(h => h.textContent).filter(t => t.includes('p99.9')).length`
	const distribution = `millicore.panels.latency.scales.y.distr + millicore.panels['latency-rate'].scales.y.distr`
	const highest = `Math.max(...millicore.panels.latency.data.slice(1).flat())`
	before := eval[float64](b, highest)
	eval[any](b, "void(document.querySelector('[data-value=p999]').click())")
	if got := eval[int](b, heading); got != 2 {
		t.Errorf("%d panels mention p99.9, want the two of latency", got)
	}
	if after := eval[float64](b, highest); after <= before {
		t.Errorf("p99.9 reaches %v ms, p99 %v", after, before)
	}
	eval[any](b, "void(document.querySelector('[data-value=log]').click())")
	if got := eval[int](b, distribution); got != 6 {
		t.Errorf("the scales of latency are not logarithmic: %d", got)
	}
	if got := eval[int](b, "millicore.panels.rate.scales.y.distr"); got == 3 {
		t.Error("the scale of requests became logarithmic too")
	}
	top := eval[float64](b, "millicore.panels.memory.scales.y.max")
	const zoom = "document.querySelector('[data-panel=memory] .zoom')"
	for _, c := range []struct {
		before, after string
		near          bool
	}{{"Zoom in", "Show the limit", true}, {"Show the limit", "Zoom in", false}} {
		if got := eval[string](b, zoom+".textContent"); got != c.before {
			t.Errorf("the zoom button reads %q, want %q", got, c.before)
		}
		eval[any](b, "void("+zoom+".click())")
		if got := eval[string](b, zoom+".textContent"); got != c.after {
			t.Errorf("once pressed the zoom button reads %q, want %q", got, c.after)
		}
		if now := eval[float64](b, "millicore.panels.memory.scales.y.max"); (now < top) != c.near {
			t.Errorf("after %q memory is drawn up to %v MiB; with its limit it was %v", c.before, now, top)
		}
	}
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains: %q", bad)
	}
}

func TestThemeButtonOverridesTheDevice(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.Procs())
	const background = "getComputedStyle(document.body).backgroundColor"
	light := eval[string](b, background)
	eval[any](b, "void(document.getElementById('theme').click())") // system -> light
	if got := eval[string](b, background); got != light {
		t.Errorf("light is %s, the light device's %s", got, light)
	}
	eval[any](b, "void(document.getElementById('theme').click())") // light -> dark
	if got := eval[string](b, background); got == light {
		t.Error("dark has the background of light")
	}
}

func TestPointerTellsFigures(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.Procs())
	const hover = `(async () => {
	  const u = millicore.panels.latency, o = u.over.getBoundingClientRect(), at = {bubbles: true, clientX: o.left + 120, clientY: o.top + 40};
	  u.over.dispatchEvent(new MouseEvent('mouseenter', at));
	  u.over.dispatchEvent(new MouseEvent('mousemove', at));
	  const v = millicore.panels['latency-rate'], q = v.over.getBoundingClientRect(), i = v.series.findIndex(s => s.mark);
	  v.over.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: q.left + v.valToPos(v.data[i][0][0], 'x'), clientY: q.top + v.valToPos(v.data[i][1][0], 'y')}));
	  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
	  return [...document.querySelectorAll('.tip:not([hidden])')].map(t => t.textContent).join(' / ');
	})()`
	got := eval[string](b, hover)
	for _, want := range []string{"all trials", "373 requests/s", "150 ms", "procs=1", "procs=2", "procs=6"} {
		if !strings.Contains(got, want) {
			t.Errorf("the tips do not say %q: %s", want, got)
		}
	}
}

func TestForeignTextDoesNotRun(t *testing.T) {
	b := newBrowser(t)
	b.screen(1280, false)
	b.open(sample.Hostile())
	if eval[bool](b, "'hacked' in window") {
		t.Error("a text of the record ran as a script")
	}
	if got := eval[string](b, "document.querySelector('.bar .name').textContent"); got != sample.Hostile().Summary.Experiment.Name {
		t.Errorf("the name is shown as %q", got)
	}
	b.holdsData(alwaysDrawn)
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains: %q", bad)
	}
}

// TestPrintsInLightWithinThePage looks at A4 paper, which is 794 CSS pixels wide.
func TestPrintsInLightWithinThePage(t *testing.T) {
	b := newBrowser(t)
	b.screen(794, true)
	b.open(sample.Procs())
	dark := eval[string](b, "getComputedStyle(document.body).backgroundColor")
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	if got := eval[string](b, "dispatchEvent(new Event('beforeprint')), getComputedStyle(document.body).backgroundColor"); got == dark {
		t.Errorf("the background on paper is %s, as on the dark screen", got)
	}
	if over := eval[float64](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		t.Errorf("the print is %v px wider than the paper", over)
	}
	b.keep("comparison-print")
	b.screen(794, true)
	if got := eval[string](b, "dispatchEvent(new Event('afterprint')), getComputedStyle(document.body).backgroundColor"); got != dark {
		t.Errorf("after printing the background is %s, was %s", got, dark)
	}
}

// tags are what an HTML parser would see as the beginning of an element.
var tags = regexp.MustCompile(`<[a-zA-Z/!]`)

func FuzzForeignTextAddsNoElement(f *testing.F) {
	for _, text := range []string{"go", `</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "<!--", "]]>", "{{.}}", "\x00\xff", "\u2028", "' onload='"} {
		f.Add(text)
	}
	render := func(t *testing.T, text string) int {
		var page bytes.Buffer
		if err := errors.Join(Page(&page, sample.Foreign(sample.WithClaims(sample.Procs()), text)), Page(&page, sample.Foreign(sample.Runs(), text)), Page(&page, sample.Foreign(sample.WithProfiles(sample.Search()), text))); err != nil {
			t.Fatal(err)
		}
		return len(tags.FindAll(page.Bytes(), -1))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.TrimSpace(text) == "" || strings.TrimSpace(display.Plain(text)) == "" {
			return // a blank text leaves out elements
		}
		if got, want := render(t, text), render(t, "plain"); got != want {
			t.Errorf("%q makes %d beginnings of elements, plain text %d", text, got, want)
		}
	})
}

// brokenPipe refuses what is written.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestTheErrorSaysWhatFailed(t *testing.T) {
	err := Page(brokenPipe{}, sample.Procs())
	if err == nil || !strings.Contains(err.Error(), "cpu-limits-and-go") || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("%v; want what was written, and why it failed", err)
	}
}

// TestALongRecordMakesASmallPage has twelve cells with six trials of two hours,
// five million values.
func TestALongRecordMakesASmallPage(t *testing.T) {
	d := sample.Long()
	var text bytes.Buffer
	if err := Page(&text, d); err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB", float64(text.Len())/1e6)
	if text.Len() > 4_000_000 {
		t.Errorf("the page takes %d bytes", text.Len())
	}
}
