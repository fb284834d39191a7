package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

const floorsPage = `
## Layers

Text.

` + "```" + `
cmd/                  command lines
report · compare      what users see
narrative             sentences
analysis              what it means
signals               data
` + "```" + `
`

// source is a file of Go with so many lines more.
func source(text string, more int) []byte {
	return []byte(text + strings.Repeat("//\n", more))
}

func TestRefused(t *testing.T) {
	const up = "package analysis\nimport _ \"github.com/millicore/millicore/internal/narrative\"\n"
	for _, c := range []struct {
		name          string
		ceilings, was string
		files         map[string]string
		more          int // lines of the first file
		want          []string
	}{
		{name: "nothing", files: map[string]string{"internal/analysis/a.go": "package analysis\n"}},
		{name: "an import that runs down", files: map[string]string{
			"internal/report/a.go": "package report\nimport _ \"github.com/millicore/millicore/internal/analysis/sums\"\n"}},
		{name: "an import that runs up", files: map[string]string{"internal/analysis/causes/a.go": up},
			want: []string{"analysis/causes imports narrative, which is a floor above it"}},
		{name: "tests may import what they like", files: map[string]string{"internal/analysis/a_test.go": up}},
		{name: "no floor", files: map[string]string{"internal/elsewhere/a.go": "package elsewhere\n"},
			want: []string{"elsewhere is on no floor of docs/architecture.md"}},
		{name: "a heavy package", files: map[string]string{"internal/report/a.go": "package report\n"}, more: most,
			want: []string{"report has 3001 lines, and may have 3000: split it by subject"}},
		{name: "a ceiling of its own", ceilings: "lines report 3100\n", was: "lines report 3100\n",
			files: map[string]string{"internal/report/a.go": "package report\n"}, more: most},
		{name: "a ceiling that must fall", ceilings: "lines report 4000\n",
			files: map[string]string{"internal/report/a.go": "package report\n"}, more: most,
			want: []string{"report has 3001 lines: lower its ceiling of 4000 in test/weight/ceilings.txt"}},
		{name: "a ceiling that rose", ceilings: "lines report 3100\n", was: "lines report 3050\n",
			files: map[string]string{"internal/report/a.go": "package report\n"}, more: most,
			want: []string{"test/weight/ceilings.txt: the ceilings of lines may only fall, and one is 3100"}},
		{name: "a ceiling for a package that had none", ceilings: "lines report 3100\nprose analysis 2\n", was: "prose analysis 2\n",
			files: map[string]string{"internal/report/a.go": "package report\n", "internal/analysis/a.go": "package analysis\nvar a, b = \"it is one busy thread\", \"it is one busy thread\"\n"}, more: most,
			want: []string{"test/weight/ceilings.txt: the ceilings of lines may only fall, and one is 3100", "analysis has 3002 lines, and may have 3000: split it by subject"}},
		{name: "a package with another name", ceilings: "lines report 3050\n", was: "lines reports 3060\n",
			files: map[string]string{"internal/report/a.go": "package report\n"}, more: most},
		{name: "prose that is moved and grows", ceilings: "prose analysis/knee 1\nprose analysis 1\n", was: "prose analysis 1\n",
			files: map[string]string{"internal/analysis/a.go": "package analysis\nvar a = \"it is one busy thread\"\n", "internal/analysis/knee/a.go": "package knee\nvar a = \"it is one busy thread\"\n"},
			want:  []string{"test/weight/ceilings.txt: the ceilings of prose may only fall, and their sum rose from 1 to 2"}},
		{name: "a ceiling of nothing", ceilings: "prose knee 1\n", files: map[string]string{"internal/report/a.go": "package report\n"},
			want: []string{"test/weight/ceilings.txt names knee, which does not exist"}},
		{name: "prose where records are judged", files: map[string]string{
			"internal/analysis/a.go": "package analysis\nvar why = \"it is one busy thread\"\n"},
			want: []string{"analysis has 1 strings of four words or more, and may have 0: return a finding, and let narrative word it\n" +
				`internal/analysis/a.go:2:11: "it is one busy thread"`}},
		{name: "prose elsewhere, errors, tags and short strings", files: map[string]string{
			"internal/report/a.go":   "package report\nvar why = \"it is one busy thread\"\n",
			"internal/analysis/a.go": "package analysis\nvar err = errors.New(\"it is one busy thread\")\nvar s = \"%d of %s at %s in %v\"\n"}},
	} {
		all := files{"docs/architecture.md": []byte(floorsPage), ceilingsFile: []byte(c.ceilings)}
		for name, text := range c.files {
			all[name] = source(text, c.more)
		}
		got, err := refuse(files{ceilingsFile: []byte(c.was)}, all)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestChange(t *testing.T) {
	before := files{"internal/a/a.go": []byte("1\n2\n"), "README.md": []byte("two words")}
	now := files{
		"internal/a/a.go": source("1\n", 1233), "internal/a/a_test.go": []byte("1\n2\n3\n"), "test/x/main.go": []byte("1\n"),
		"workloads/a/main.go": []byte("1\n2\n"), "README.md": []byte("one\n"),
	}
	const want = "1,234 lines of code (+1232), 4 of tests (+4), 1 words of docs (-1)"
	if got := change(weigh(before), weigh(now)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The project itself keeps the bounds.
func TestTheProject(t *testing.T) {
	t.Chdir("../..")
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("not a checkout of git")
	}
	now, err := tracked()
	if err != nil {
		t.Fatal(err)
	}
	refused, err := refuse(now, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range refused {
		t.Error(line)
	}
}
