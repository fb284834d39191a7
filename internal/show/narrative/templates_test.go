package narrative

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Each template of the package is in a file of testdata, which a test compares with what
// is rendered: a word that is dropped or added, a unit, or the sign of a bound shows.
// What it fails for needs a case: see sentences_test.go.
func TestEachTemplateIsRendered(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var rendered strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rendered.Write(text)
	}
	shown := strings.ToLower(rendered.String())
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, words := range templates(t, file) {
			if !strings.Contains(shown, strings.ToLower(words)) {
				t.Errorf("%s: no test renders %q", file, words)
			}
		}
	}
}

var (
	verb     = regexp.MustCompile(`%[-+#0]*[\d.]*[a-zA-Z]|%%`)
	twoWords = regexp.MustCompile(`[a-zA-Z]{2,} +(?:[^a-zA-Z]*)[a-zA-Z]{2,}`)
)

// templates are the pieces of a file's texts between their verbs, if they have two words
// or more, without layouts of times.
func templates(t *testing.T, file string) (all []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range verb.Split(text, -1) {
			if words = strings.Trim(words, " "); twoWords.MatchString(words) && !strings.Contains(words, "2006") {
				all = append(all, words)
			}
		}
		return true
	})
	return all
}
