// Command outcome judges a run of make test by the events that `go test -json`
// wrote: it counts the tests, names the longest, and reports what a green run can hide.
//
//	outcome [-allowed FILE] [-flaky N] bin/events/*.json
//
// A test that failed fails the run. A test that failed and then passed is flaky; with
// -flaky more of them fail the run. With -allowed a test may be skipped only for a
// reason that the list has, so that a central claim is never skipped unnoticed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	allowed := flag.String("allowed", "", "`file` with the reasons for which a test may be skipped; empty: any")
	flaky := flag.Int("flaky", -1, "how many flaky tests a run may have; -1: any number")
	flag.Parse()
	if err := run(os.Stdout, *allowed, *flaky, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "outcome:", err)
		os.Exit(1)
	}
}

// module is the beginning of the names of this module's packages.
const module = "github.com/millicore/millicore/"

// anyReason allows every skip.
var anyReason = []rule{{regexp.MustCompile(""), regexp.MustCompile("")}}

func run(out io.Writer, allowed string, flaky int, files []string) error {
	rules := anyReason
	if allowed != "" {
		list, err := os.ReadFile(allowed)
		if err != nil {
			return err
		}
		if rules, err = parse(string(list)); err != nil {
			return fmt.Errorf("%s: %w", allowed, err)
		}
	}
	all, durations := tests{}, newTimes()
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		err = read(f, all.add, durations.add)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	durations.print(out)
	return all.judge(out, rules, flaky)
}

// rule allows a skip: of the tests and for the reasons that match.
type rule struct{ test, reason *regexp.Regexp }

// parse reads the list: a line is a regular expression for the package and the
// test, a tab, and one for the reason. Empty lines and lines with # are comments.
func parse(list string) (rules []rule, err error) {
	for i, line := range strings.Split(list, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		test, reason, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("line %d: want TEST, a tab and REASON", i+1)
		}
		var r rule
		var errs [2]error
		r.test, errs[0] = regexp.Compile("^(?:" + strings.TrimSpace(test) + ")$")
		r.reason, errs[1] = regexp.Compile(strings.TrimSpace(reason))
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Time                          time.Time
	Elapsed                       float64 // seconds, where a test or a package ends
}

// test is the outcome of a test in all its runs.
type test struct {
	pkg                     string
	whole                   string // its name without that of a subtest: both fail together
	failed, passed, skipped bool
	running, failedNow      bool     // in the present run
	crashed                 bool     // it did not end in one of its runs
	output                  []string // of the last run
}

// tests are by package and name. The name of a package alone stands for what failed
// outside of its tests: a crash, or what follows the tests.
type tests map[string]*test

// read hands each event of a run to all of the functions.
func read(r io.Reader, to ...func(event)) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 && line[0] == '{' {
			var e event
			if err := json.Unmarshal(line, &e); err != nil {
				return err
			}
			for _, add := range to {
				add(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (all tests) add(e event) {
	if e.Test == "" {
		if e.Action == "fail" {
			all.packageFailed(e.Package)
		}
		return
	}
	name := e.Package + "." + e.Test
	t := all[name]
	if t == nil {
		top, _, _ := strings.Cut(e.Test, "/")
		t = &test{pkg: e.Package, whole: e.Package + "." + top}
		all[name] = t
	}
	switch e.Action {
	case "run":
		t.crashed = t.crashed || t.running
		t.output, t.running, t.failedNow = nil, true, false
	case "output":
		t.output = append(t.output, e.Output)
	case "pass":
		t.passed, t.running = true, false
	case "fail":
		t.failed, t.running, t.failedNow = true, false, true
	case "skip":
		t.skipped, t.running = true, false
	}
}

// packageFailed notes the failure of a package. If none of its tests failed in the same
// run, a rerun of failed tests cannot show whether the failure persists: a program that
// crashed leaves tests without an end, and tests that never began.
func (all tests) packageFailed(pkg string) {
	failed := false
	for _, t := range all {
		if t.pkg != pkg {
			continue
		}
		failed = failed || t.failedNow || t.running
		t.crashed = t.crashed || t.running
		t.failedNow, t.running = false, false
	}
	if !failed {
		all[pkg] = &test{pkg: pkg, whole: pkg, crashed: true}
	}
}

// reason is what a skipped test printed, without go test's own lines.
func (t *test) reason() string {
	var said []string
	for _, line := range t.output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}

func (all tests) judge(out io.Writer, rules []rule, mostFlaky int) error {
	var ran int
	var failed, flaky, skipped, unexpected []string
	for name, t := range all {
		switch {
		case name == t.pkg:
			failed = append(failed, name+": it failed outside of its tests")
		case t.crashed || t.running:
			ran++
			failed = append(failed, name+": it did not end")
		case t.skipped && !t.passed && !t.failed:
			skipped = append(skipped, fmt.Sprintf("%s: %s", name, t.reason()))
			fits := func(r rule) bool { return r.test.MatchString(name) && r.reason.MatchString(t.reason()) }
			if !slices.ContainsFunc(rules, fits) {
				unexpected = append(unexpected, skipped[len(skipped)-1])
			}
		case t.failed && t.passed:
			ran++
			if !slices.Contains(flaky, t.whole) {
				flaky = append(flaky, t.whole)
			}
		case t.failed:
			ran++
			failed = append(failed, name)
		default:
			ran++
		}
	}
	report(out, "skipped:", skipped)
	report(out, "flaky (failed, and passed when run again):", flaky)
	report(out, "skipped for a reason that is not in the list:", unexpected)
	report(out, "failed:", failed)
	fmt.Fprintf(out, "%d tests ran, %d failed, %d were skipped, %d were flaky\n", ran, len(failed), len(skipped), len(flaky))
	var errs []error
	if len(failed) > 0 {
		errs = append(errs, fmt.Errorf("%d tests failed", len(failed)))
	}
	if len(unexpected) > 0 {
		errs = append(errs, fmt.Errorf("%d tests were skipped for a reason that the list does not allow: install what they need, or add the reason", len(unexpected)))
	}
	if mostFlaky >= 0 && len(flaky) > mostFlaky {
		errs = append(errs, fmt.Errorf("%d flaky tests, at most %d are allowed", len(flaky), mostFlaky))
	}
	return errors.Join(errs...)
}

func report(out io.Writer, title string, names []string) {
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	fmt.Fprintln(out, title)
	for _, name := range names {
		fmt.Fprintln(out, "  "+name)
	}
}
