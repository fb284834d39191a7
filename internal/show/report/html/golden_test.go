package html

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/test/sample"
	"github.com/millicore/millicore/test/testkit/golden"
)

// TestBlocksReadAsExpected compares each kind of block with a file that was read by
// a person: the section of a page with as few cells as show it.
func TestBlocksReadAsExpected(t *testing.T) {
	for _, c := range []struct {
		section string
		data    results.Results
	}{
		{"claims", sample.WithClaims(sample.Procs())},
		{"results", first(sample.Procs(), 1)},
		{"levels", first(sample.Ramp(), 1)},
		{"sheet", first(sample.Runs(), 1)},
		{"differences", first(sample.Search(), 2)},
		{"causes", first(sample.Search(), 1)},
		{"slowest", first(sample.Search(), 1)},
		{"profiles", first(sample.WithProfiles(sample.Search()), 1)},
		{"details", first(sample.Search(), 1)},
	} {
		t.Run(c.section, func(t *testing.T) {
			golden.Check(t, c.section+".html", sectionOf(t, pageOf(t, c.data), c.section))
		})
	}
	t.Run("page", func(t *testing.T) { golden.Check(t, "page.html", pageOf(t, sample.Failed())) })
}

// first leaves out all cells but the first ones.
func first(d results.Results, n int) results.Results {
	s := d.Summary
	s.Cells = s.Cells[:n]
	for i := range s.Cells {
		c := &s.Cells[i]
		c.Steps, c.PerTrial = c.Steps[:min(len(c.Steps), 2)], c.PerTrial[:min(len(c.PerTrial), 2)]
		if c.Causes != nil {
			c.Causes.Slowest = c.Causes.Slowest[:min(len(c.Causes.Slowest), 2)]
		}
	}
	return d
}

// pageOf is a page without its styles, scripts and data, one element a line.
func pageOf(t *testing.T, d results.Results) string {
	t.Helper()
	var b bytes.Buffer
	if err := Page(&b, d); err != nil {
		t.Fatal(err)
	}
	page := embedded.ReplaceAllString(b.String(), "$1$3")
	page = hashes.ReplaceAllString(page, "sha256-…")
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(page, "><", ">\n<")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

var (
	embedded = regexp.MustCompile(`(?s)(<(?:style|script)[^>]*>)(.*?)(</(?:style|script)>)`)
	hashes   = regexp.MustCompile(`sha256-[A-Za-z0-9+/=&#;]+`)
	ends     = regexp.MustCompile(`</?section`)
)

// sectionOf cuts a section out of a page by its id or class.
func sectionOf(t *testing.T, page, name string) string {
	t.Helper()
	at := strings.Index(page, `<section id="`+name+`"`)
	if at < 0 {
		at = strings.Index(page, `<section class="`+name+`"`)
	}
	if at < 0 {
		t.Fatalf("the page has no section %q", name)
	}
	depth := 0
	for _, m := range ends.FindAllStringIndex(page[at:], -1) {
		if depth++; page[at+m[0]+1] == '/' {
			depth -= 2
		}
		if depth == 0 {
			return page[at:at+m[1]] + ">\n"
		}
	}
	t.Fatalf("the section %q has no end", name)
	return ""
}
