package main

import (
	"slices"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	rules, err := parse("# a comment\n\nfoo|foos -> bar\nnever mind -> regardless of\nkeep no foo here\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		lines      []int
	}{
		{"a word", "a\nFoo b\n", []int{2}},
		{"a part of a word", "food buffoon", nil},
		{"two on a line", "foo foos", []int{1, 1}},
		{"a phrase over two lines", "x\nnever\nmind\n", []int{2}},
		{"a phrase over two lines of a comment", "// never\n\t// mind\n", []int{1}},
		{"kept words", "no foo here, foo there", []int{1}},
		{"no text", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lines []int
			for _, p := range check(rules, []byte(c.text)) {
				lines = append(lines, p.line)
			}
			if len(lines) != len(c.lines) {
				t.Fatalf("got lines %v, want %v", lines, c.lines)
			}
			for i := range lines {
				if lines[i] != c.lines[i] {
					t.Errorf("got lines %v, want %v", lines, c.lines)
				}
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, list := range []string{"no arrow", "( -> x"} {
		if _, err := parse(list); err == nil || !strings.Contains(err.Error(), "words.txt:1") {
			t.Errorf("parse(%q) = %v; want an error with its line", list, err)
		}
	}
}

// The list itself has to parse; whether the files obey it is for the command.
func TestList(t *testing.T) {
	rules, err := parse(list)
	if err != nil || len(rules) == 0 {
		t.Fatalf("%d rules, %v", len(rules), err)
	}
}

func TestLikenesses(t *testing.T) {
	const functions = "package a\nfunc Read() {}\n\n// ReadAll is Read to the end.\nfunc ReadAll() {}\n\n"
	for text, want := range map[string][]string{
		"":                                       {`a/a.go:5: "ReadAll is Read": say what it does`},
		"// all is Read too.\nvar all int\n":     {`a/a.go:5: "ReadAll is Read": say what it does`},
		"// lag is the lag.\nfunc lag() {}\n":    {`a/a.go:5: "ReadAll is Read": say what it does`},
		"// both is\n// Read.\nfunc both() {}\n": {`a/a.go:5: "ReadAll is Read": say what it does`, `a/a.go:9: "both is\nRead": say what it does`},
	} {
		got, err := likenesses(map[string][]byte{"a/a.go": []byte(functions + text)})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if got, err := likenesses(map[string][]byte{"a/a.go": []byte(functions), "b/b.go": []byte("package b\n\n// Other is Read.\nfunc Other() {}\n")}); err != nil || len(got) != 1 {
		t.Errorf("a function of another package: %q, %v", got, err)
	}
}
