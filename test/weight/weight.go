package main

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// weight is how much there is to read.
type weight struct {
	code  int // lines of Go in product
	tests int // lines of Go in files _test.go, and below test/
	docs  int // words in Markdown, without test data
}

func weigh(all files) weight {
	var w weight
	for name, text := range all {
		switch {
		case strings.Contains(name, "/testdata/"):
		case strings.HasSuffix(name, ".md"):
			w.docs += len(bytes.Fields(text))
		case strings.HasSuffix(name, "_test.go"), strings.HasPrefix(name, "test/"):
			w.tests += lines(text)
		case product(name):
			w.code += lines(text)
		}
	}
	return w
}

// product reports whether a file is part of the programs or of maxprocs.
func product(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return top == "internal" || top == "cmd" || top == "maxprocs"
}

func lines(text []byte) int { return bytes.Count(text, []byte{'\n'}) }

// change is the line that a person reads.
func change(before, now weight) string {
	return fmt.Sprintf("%s lines of code (%+d), %s of tests (%+d), %s words of docs (%+d)",
		grouped(now.code), now.code-before.code,
		grouped(now.tests), now.tests-before.tests,
		grouped(now.docs), now.docs-before.docs)
}

// grouped is a number with a comma before each three digits.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// folder is the package of a file, as docs/architecture.md names it.
func folder(name string) string { return strings.TrimPrefix(path.Dir(name), "internal/") }
