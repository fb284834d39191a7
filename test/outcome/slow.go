package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// longest is how many packages and tests the end of a run names.
const longest = 20

// took is the time of a package or of a whole test, with its subtests. Runs of the same
// name are added up: a test that failed and ran again took the time of both.
type took struct {
	name    string
	seconds float64
	began   time.Time // this run, after it waited for its turn among parallel tests
	reason  string    // what testkit.Long says that it waits for; "": nothing
}

// times are the seconds of packages and of whole tests.
type times struct{ packages, tests map[string]*took }

func newTimes() times { return times{map[string]*took{}, map[string]*took{}} }

// longMark begins the reason that testkit.Long logs.
const longMark = "long: "

// add notes the time of a package or of a whole test. Subtests are part of their test.
func (all times) add(e event) {
	if strings.Contains(e.Test, "/") {
		return
	}
	of, name := all.tests, e.Package+"."+e.Test
	if e.Test == "" {
		of, name = all.packages, e.Package
	}
	if of[name] == nil {
		of[name] = &took{name: name}
	}
	switch e.Action {
	case "run", "cont":
		of[name].began = e.Time
	case "pass", "fail", "skip":
		if e.Test == "" {
			of[name].seconds += e.Elapsed
		} else { // go test's own figure leaves out parallel subtests
			of[name].seconds += e.Time.Sub(of[name].began).Seconds()
		}
	case "output":
		if _, reason, ok := strings.Cut(e.Output, longMark); ok {
			of[name].reason = strings.TrimSpace(reason)
		}
	}
}

// print writes the longest packages and the longest tests, in seconds.
func (all times) print(out io.Writer) {
	printLongest(out, "the longest packages:", all.packages)
	printLongest(out, "the longest tests:", all.tests)
}

func printLongest(out io.Writer, title string, of map[string]*took) {
	var list []*took
	for _, t := range of {
		if t.seconds >= 1 {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(a, b *took) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.name, b.name))
	})
	fmt.Fprintln(out, title)
	for _, t := range list[:min(longest, len(list))] {
		line := fmt.Sprintf("%6.0f s  %s", t.seconds, strings.TrimPrefix(t.name, module))
		if t.reason != "" {
			line += ": " + t.reason
		}
		fmt.Fprintln(out, line)
	}
}
