package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const skipLines = `{"Action":"run","Package":"p","Test":"TestS"}
{"Action":"output","Package":"p","Test":"TestS","Output":"=== RUN   TestS\n"}
{"Action":"output","Package":"p","Test":"TestS","Output":"    s_test.go:3: needs a TUN device: no such file\n"}
{"Action":"skip","Package":"p","Test":"TestS"}
`

const flakyLines = `{"Action":"run","Package":"p","Test":"TestNAME"}
{"Action":"fail","Package":"p","Test":"TestNAME"}
not an event
{"Action":"run","Package":"p","Test":"TestNAME"}
{"Action":"pass","Package":"p","Test":"TestNAME"}
{"Action":"pass","Package":"p"}
`

const failedLines = `{"Action":"run","Package":"p","Test":"TestF"}
{"Action":"fail","Package":"p","Test":"TestF"}
`

const crashedLines = `{"Action":"run","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Test":"TestC","Output":"fatal error: all goroutines are asleep\n"}
{"Action":"fail","Package":"p"}
`

const passedLines = `{"Action":"run","Package":"p","Test":"TestC"}
{"Action":"pass","Package":"p","Test":"TestC"}
`

func flaky(names ...string) (all string) {
	for _, name := range names {
		all += strings.ReplaceAll(flakyLines, "NAME", name)
	}
	return all
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		events, allowed, want string
		fails                 bool
	}{
		"an allowed skip":                                     {skipLines, "p[.].*\tneeds a TUN device", "0 tests ran, 0 failed, 1 were skipped, 0 were flaky", false},
		"of another test":                                     {skipLines, "q[.].*\tneeds a TUN device", "TestS", true},
		"for another reason":                                  {skipLines, "p[.].*\tneeds root", "needs a TUN device", true},
		"one flaky test":                                      {flaky("A"), "", "1 tests ran, 0 failed, 0 were skipped, 1 were flaky", false},
		"a flaky test and its subtest":                        {flaky("A", "A/one"), "", "0 were skipped, 1 were flaky", false},
		"two flaky tests":                                     {flaky("A", "B"), "", "p.TestB", true},
		"a test that failed":                                  {failedLines, "", "p.TestF\n1 tests ran, 1 failed", true},
		"a test without an end":                               {crashedLines, "", "p.TestC: it did not end", true},
		"a crash, and a rerun that passed":                    {crashedLines + passedLines, "", "p.TestC: it did not end", true},
		"a package that failed after its tests":               {passedLines + `{"Action":"fail","Package":"p"}`, "", "p: it failed outside of its tests", true},
		"a package with a failed test that passed in a rerun": {flaky("A"), "", "0 failed", false},
		"a skip that passed in a rerun":                       {skipLines + `{"Action":"run","Package":"p","Test":"TestS"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestS"}`, "", "1 tests ran", false},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := parse(c.allowed)
			if err != nil {
				t.Fatal(err)
			}
			all := tests{}
			if err := read(strings.NewReader(c.events), all.add); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := all.judge(&out, rules, 1); (err != nil) != c.fails || !strings.Contains(out.String(), c.want) {
				t.Errorf("%v\n%s", err, &out)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, list := range []string{"no tab", "(\tx", "x\t("} {
		if _, err := parse(list); err == nil {
			t.Errorf("parse(%q): no error", list)
		}
	}
}

// Without a list and a number nothing fails the run, and all of it is reported.
func TestARunIsReported(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.json")
	if err := os.WriteFile(file, []byte(skipLines+flaky("A", "B")), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(&out, "", -1, []string{file}); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"needs a TUN device", "p.TestA\n", "p.TestB\n", "2 tests ran, 0 failed, 1 were skipped, 2 were flaky"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

// The committed list parses, and the central claims are not in it.
func TestTheListOfMakeTest(t *testing.T) {
	list, err := os.ReadFile("skips.txt")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := parse(string(list))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		module + "internal/load/engine.TestARealFreezeIsSeenWhole",
		module + "internal/lab.TestWatchingAThrottledProcess",
		module + "test/program.TestKnownCauses/a_quota",
		module + "test/program.TestAQuotaThrottles",
	} {
		for _, r := range rules {
			if r.test.MatchString(name) {
				t.Errorf("%s may be skipped: %s", name, r.reason)
			}
		}
	}
}

func TestTheLongestTests(t *testing.T) {
	durations := newTimes()
	at := func(second int) string { return fmt.Sprintf(`"Time":"2026-01-02T03:04:%02dZ"`, second) }
	if err := read(strings.NewReader(`{`+at(0)+`,"Action":"run","Package":"p","Test":"TestA"}
{`+at(0)+`,"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: long: a real database\n"}
{`+at(9)+`,"Action":"pass","Package":"p","Test":"TestA/part","Elapsed":9}
{`+at(10)+`,"Action":"fail","Package":"p","Test":"TestA","Elapsed":1}
{`+at(20)+`,"Action":"run","Package":"p","Test":"TestA"}
{`+at(22)+`,"Action":"pause","Package":"p","Test":"TestA"}
{`+at(30)+`,"Action":"cont","Package":"p","Test":"TestA"}
{`+at(50)+`,"Action":"pass","Package":"p","Test":"TestA","Elapsed":20}
{`+at(50)+`,"Action":"run","Package":"p","Test":"TestB"}
{`+at(52)+`,"Action":"pass","Package":"p","Test":"TestB","Elapsed":2}
{`+at(52)+`,"Action":"run","Package":"p","Test":"TestQuick"}
{`+at(52)+`,"Action":"pass","Package":"p","Test":"TestQuick","Elapsed":0.4}
{`+at(55)+`,"Action":"pass","Package":"p","Elapsed":64}
`), durations.add); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	durations.print(&out)
	const want = `the longest packages:
    64 s  p
the longest tests:
    30 s  p.TestA: a real database
     2 s  p.TestB
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}
