package html

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/test/testkit"
)

// browser is a window of a headless Chromium that opens report files and notes what it
// complains of and what it tries to fetch.
type browser struct {
	t       *testing.T
	ctx     context.Context
	mu      sync.Mutex
	errors  []string
	fetches []string
}

// process is the Chromium in which all tests have their windows. The first test starts it.
var process struct {
	start sync.Once
	ctx   context.Context
	err   error
	end   func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if process.end != nil {
		process.end()
	}
	os.Exit(code)
}

// chromium finds the browser. Where there is none the test is skipped; under
// CI its absence is a failure, since nothing else would report it.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	testkit.Missing(t, "no Chromium on this machine: install chromium to test the HTML report in a browser")
	return ""
}

func startChromium(path string) {
	dir, err := os.MkdirTemp("", "millicore-chromium-")
	if err != nil {
		process.err = err
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.UserDataDir(filepath.Join(dir, "profile")),
		chromedp.Env("TMPDIR="+dir), // it leaves the folder of its socket behind
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
		// Nothing may be fetched: every name and address leads nowhere.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), chromedp.Flag("no-proxy-server", true),
	)
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(alloc)
	process.ctx, process.err = ctx, chromedp.Do(ctx)
	process.end = func() { stop(); stopAlloc(); os.RemoveAll(dir) }
}

// newBrowser is a window with a profile of its own, which is closed with the test.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	testkit.Long(t, "a browser")
	path := chromium(t)
	process.start.Do(func() { startChromium(path) })
	if process.err != nil {
		t.Fatalf("start Chromium: %v", process.err)
	}
	ctx, stop := chromedp.NewContext(process.ctx, chromedp.WithNewBrowserContext())
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(func() { cancel(); stop() })
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open a window of Chromium: %v", err)
	}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatalf("listen to Chromium: %v", err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatalf("listen to Chromium's requests: %v", err)
	}
	return b
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			b.errors = append(b.errors, asJSON(e.Args))
		}
	case *log.EventEntryAdded: // among them what the content security policy refused
		b.errors = append(b.errors, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || (u.Scheme != "file" && u.Scheme != "data") {
			b.fetches = append(b.fetches, e.Request.URL)
		}
	}
}

// write writes the report to a file.
func write(t *testing.T, d results.Results) string {
	t.Helper()
	var text bytes.Buffer
	if err := Page(&text, d); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// open opens a report.
func (b *browser) open(d results.Results) {
	b.t.Helper()
	b.openFile(write(b.t, d))
}

// openFile opens a report's file as a user would, and waits until the page says that it
// is drawn.
func (b *browser) openFile(file string) {
	b.t.Helper()
	b.do(chromedp.Navigate("file://" + file))
	// Not by chromedp's Poll: that goes on in the page, and is gone with the page
	// that was open before if it began a moment too early.
	const drawn = "!!(window.millicore && window.millicore.ready)"
	testkit.Until(b.t, "the page is drawn", func() bool {
		is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](drawn))
		if err != nil && !strings.Contains(err.Error(), "Cannot find context") {
			b.t.Fatalf("wait until the page is drawn: %v\nthe page complains: %q", err, b.complaints())
		}
		return is
	})
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("%v\nthe page complains: %q", err, b.complaints())
	}
}

// complaints are what the page logged as errors and what it tried to fetch.
func (b *browser) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append(append([]string{}, b.errors...), b.fetches...)
}

// eval gives an expression's value in the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("evaluate %s: %v\nthe page complains: %q", expression, err, b.complaints())
	}
	return v
}

// screen sets the window's width and the theme that the device asks for, and
// waits until the page has been painted so.
func (b *browser) screen(width int64, dark bool) {
	b.t.Helper()
	theme := "light"
	if dark {
		theme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(width, 900, chromedp.EmulateScale(2)))
	eval[bool](b, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true)))))")
}

// keep saves a screenshot of the whole page in the folder MILLICORE_ARTIFACTS, for people
// to look at. Without the variable it takes none: one takes up to a second.
func (b *browser) keep(name string) {
	b.t.Helper()
	dir := os.Getenv("MILLICORE_ARTIFACTS")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	file := filepath.Join(dir, name+".png")
	if err := os.WriteFile(file, png, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("screenshot: %s", file)
}

// panelState is what the test wants to know of a panel.
type panelState struct {
	Series   int `json:"series"`
	Points   int `json:"points"`   // that are not null
	Coloured int `json:"coloured"` // pixels of the canvas that are painted
}

const panelStates = `Object.fromEntries(Object.entries(millicore.panels).map(([id, u]) => {
  const columns = u.series.slice(1).map((s, i) => u.data[i + 1]).map(d => Array.isArray(d[0]) ? d[1] : d);
  const c = u.ctx.canvas, px = u.ctx.getImageData(0, 0, c.width, c.height).data, seen = new Set();
  let coloured = 0;
  for (let i = 0; i < px.length; i += 4) if (px[i + 3] > 0 && Math.max(px[i], px[i+1], px[i+2]) - Math.min(px[i], px[i+1], px[i+2]) > 40) coloured++;
  return [id, {series: columns.length, points: columns.reduce((n, d) => n + d.filter(v => v !== null && v !== undefined).length, 0), coloured}];
}))`

func (b *browser) panels() map[string]panelState {
	b.t.Helper()
	return eval[map[string]panelState](b, panelStates)
}

func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
