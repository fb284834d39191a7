package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/report/sample"
	"github.com/millicore/millicore/internal/results"
)

// TestPagesReadAsExpected compares the page of each kind of record with a file
// that was read by a person.
func TestPagesReadAsExpected(t *testing.T) {
	for name, data := range map[string]results.Results{
		"comparison.html": sample.WithClaims(sample.Procs()),
		"ramp.html":       sample.Ramp(),
		"search.html":     sample.WithProfiles(sample.Search()),
		"runs.html":       sample.Runs(),
		"failed.html":     sample.Failed(),
	} {
		t.Run(name, func(t *testing.T) {
			var page bytes.Buffer
			if err := HTML(&page, data); err != nil {
				t.Fatal(err)
			}
			golden(t, name, normalised(t, page.String()))
		})
	}
}

var (
	chartData  = regexp.MustCompile(`(?s)<script type="application/json" id="charts">(.*?)</script>`)
	assetTexts = regexp.MustCompile(`(?s)<(style|script)>.*?</(?:style|script)>`)
	hashes     = regexp.MustCompile(`sha256-[A-Za-z0-9+/=&#;]+`)
)

// normalised is a page without its styles and scripts, which have tests of their
// own, and with the charts' data shortened: one element and one key a line.
func normalised(t *testing.T, page string) string {
	t.Helper()
	found := chartData.FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page has no data for its charts")
	}
	var data any
	if err := json.Unmarshal([]byte(found[1]), &data); err != nil {
		t.Fatal(err)
	}
	page = chartData.ReplaceAllLiteralString(page, `<script type="application/json" id="charts"></script>`)
	page = assetTexts.ReplaceAllString(page, "<$1></$1>")
	page = hashes.ReplaceAllString(page, "sha256-…")
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(page, "><", ">\n<")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	text, err := json.MarshalIndent(shortenedJSON(data), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n") + "\n" + string(text) + "\n"
}

// shortenedJSON is JSON with four significant digits, and with lists cut to their
// ends.
func shortenedJSON(v any) any {
	switch v := v.(type) {
	case float64:
		return json.Number(strconv.FormatFloat(v, 'g', 4, 64))
	case map[string]any:
		for name, one := range v {
			v[name] = shortenedJSON(one)
		}
	case []any:
		for i, one := range v {
			v[i] = shortenedJSON(one)
		}
		switch n := len(v); {
		case n > 4 && isObject(v[0]):
			return []any{v[0], v[n-1], fmt.Sprintf("and %d between", n-2)}
		case n > 4:
			return fmt.Sprintf("%d from %v to %v", n, v[0], v[n-1])
		}
	}
	return v
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}
