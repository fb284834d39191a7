// Package html writes the report of a record as one page that needs no network:
// styles, scripts and the data of the charts are inside it, under a policy that
// allows nothing else. What the page shows is decided by package report, what the
// charts are drawn from by package charts; text outputs are written by package text.
//
// All strings of a record are foreign. html/template escapes them, and the data of
// the charts cannot end the element that holds it.
package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/report/html/charts"
)

//go:embed assets
var assets embed.FS

// The files that go into the page, in their order. uPlot is leeoniya/uPlot 1.6.32,
// MIT; its licence is beside it and goes into the page.
var (
	styleFiles  = []string{"assets/uplot/uPlot.min.css", "assets/base.css", "assets/tables.css", "assets/report.css", "assets/why.css", "assets/claims.css", "assets/sizing.css"}
	earlyFiles  = []string{"assets/theme.js"}
	scriptFiles = []string{"assets/format.js", "assets/marks.js", "assets/timepanels.js", "assets/curves.js", "assets/breaking.js", "assets/tips.js", "assets/tables.js", "assets/copy.js", "assets/main.js"}
)

const (
	plotFile    = "assets/uplot/uPlot.iife.min.js"
	licenceFile = "assets/uplot/LICENSE"
)

// pageTemplate is parsed for the first page: that takes 2 ms, which each start would take.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").
		Funcs(template.FuncMap{"typeset": typeset, "unbroken": unbroken, "table": newTable, "claim": newClaim, "functionTip": functionTip, "bar": bar, "markOf": markOf, "share": display.Share}).
		ParseFS(assets, "assets/*.html"))
})

// Page writes the report.
func Page(w io.Writer, d results.Results) error {
	p := newPage(d)
	data, err := json.Marshal(charts.New(d))
	if err != nil {
		return fmt.Errorf("write the charts of %q as JSON: %w", d.Summary.Experiment.Name, err)
	}
	// json.Marshal writes <, > and & as escapes, so that no text in the data can end
	// the script element that holds it.
	p.Charts = template.JS(data)
	p.Style = template.CSS(joined(styleFiles))
	p.Early = template.JS(joined(earlyFiles))
	p.Plot = template.JS("/*\n" + joined([]string{licenceFile}) + "*/\n" + joined([]string{plotFile}))
	p.Script = template.JS("(() => {\n\"use strict\";\n" + joined(scriptFiles) + "})();\n")
	p.Policy = policy(string(p.Early), string(p.Plot), string(p.Script))
	if err := pageTemplate().ExecuteTemplate(w, "page.html", p); err != nil {
		return fmt.Errorf("write the HTML report of %q: %w", d.Summary.Experiment.Name, err)
	}
	return nil
}

// joined reads embedded files; one that is missing is a mistake of the build.
func joined(names []string) string {
	var b strings.Builder
	for _, name := range names {
		text, err := assets.ReadFile(name)
		if err != nil {
			panic(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// policy allows the page's own scripts by their hashes and nothing else.
func policy(scripts ...string) string {
	var hashes strings.Builder
	for _, s := range scripts {
		sum := sha256.Sum256([]byte(s))
		hashes.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
	}
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src" + hashes.String()
}
