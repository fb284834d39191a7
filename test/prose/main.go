// Command prose checks the language of everything that a person reads: docs,
// help texts, messages, comments and test data. It reports each word of its list
// with its place and the replacement, and exits with 1 where it found one.
//
// The list is words.txt beside this file: the project's glossary in the negative. It also
// reports comments that explain a function of Go by another one.
// The command reads the files that git tracks in the current folder. It does not
// judge grammar, and it does not read third-party text.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

//go:embed words.txt
var list string

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run() error {
	rules, err := parse(list)
	if err != nil {
		return err
	}
	files, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return fmt.Errorf("list the files that git tracks: %w", err)
	}
	found := 0
	sources := map[string][]byte{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		if foreign(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) { // deleted, and not committed yet
			continue
		}
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) >= 0 { // no text
			continue
		}
		for _, p := range check(rules, text) {
			fmt.Printf("%s:%d: %q: %s\n", name, p.line, p.words, p.instead)
			found++
		}
		if strings.HasSuffix(name, ".go") {
			sources[name] = text
		}
	}
	alike, err := likenesses(sources)
	if err != nil {
		return err
	}
	for _, line := range alike {
		fmt.Println(line)
		found++
	}
	if found > 0 {
		return fmt.Errorf("%d places; test/prose/words.txt has the list", found)
	}
	return nil
}

// foreign reports whether others wrote a file, or whether it is the list itself.
func foreign(name string) bool {
	for _, part := range []string{"LICENSE", "go.sum", "go.work.sum", "package-lock.json", "assets/uplot/", "test/prose/words.txt"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// rule is a line of the list.
type rule struct {
	words   *regexp.Regexp
	instead string // empty: these words are kept
}

// keep begins a line of words that stay: those of a file format, for example.
const keep = "keep "

// parse reads the list: a regular expression, " -> ", and what to write instead. A
// line that begins with keep has words that are not reported. Empty lines and lines
// that begin with # are comments.
func parse(list string) ([]rule, error) {
	var rules []rule
	for i, line := range strings.Split(list, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, kept := strings.CutPrefix(line, keep)
		instead := ""
		if !kept {
			var ok bool
			if pattern, instead, ok = strings.Cut(line, " -> "); !ok {
				return nil, fmt.Errorf("words.txt:%d: %q has no \" -> \"", i+1, line)
			}
			instead = "write " + instead
		}
		words, err := regexp.Compile(`(?i)\b(?:` + pattern + `)\b`)
		if err != nil {
			return nil, fmt.Errorf("words.txt:%d: %w", i+1, err)
		}
		rules = append(rules, rule{words, instead})
	}
	return rules, nil
}

// place is a word of the list in a text.
type place struct {
	line           int
	words, instead string
}

// gap is what can stand between two words of a phrase that a line break divides:
// white space and the mark of a comment.
var gap = regexp.MustCompile(`[ \t]*\n[ \t]*(?://|#|\*)?[ \t]*`)

// check finds the words of the list in a text, also where a line break divides
// them, in the order of the lines.
func check(rules []rule, text []byte) []place {
	// Line breaks become spaces of the same number of bytes, so that offsets stay.
	flat := gap.ReplaceAllFunc(bytes.Clone(text), func(b []byte) []byte {
		return append([]byte{' '}, bytes.Repeat([]byte{1}, len(b)-1)...)
	})
	joined := make([]byte, 0, len(flat))
	offsets := make([]int, 0, len(flat))
	for i, b := range flat {
		if b != 1 {
			joined = append(joined, b)
			offsets = append(offsets, i)
		}
	}
	var kept [][]int
	for _, r := range rules {
		if r.instead == "" {
			kept = append(kept, r.words.FindAllIndex(joined, -1)...)
		}
	}
	var places []place
	for _, r := range rules {
		if r.instead == "" {
			continue
		}
		for _, m := range r.words.FindAllIndex(joined, -1) {
			within := func(k []int) bool { return k[0] <= m[0] && m[1] <= k[1] }
			if slices.ContainsFunc(kept, within) {
				continue
			}
			line := 1 + bytes.Count(text[:offsets[m[0]]], []byte{'\n'})
			places = append(places, place{line, string(joined[m[0]:m[1]]), r.instead})
		}
	}
	return places
}
