package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The flags, in which the traps are: rates of a worker or of all, protocols, and
// bounds that tools set by themselves.
func TestArguments(t *testing.T) {
	dir := t.TempDir()
	closed := load{URL: "http://127.0.0.1:1/", Seconds: 5, Connections: 64}
	open := load{URL: "http://127.0.0.1:1/", Seconds: 5, Connections: 64, Rate: 2000, Even: true}
	for _, c := range []struct {
		tool tool
		load load
		want string
	}{
		{wrk, closed, "-t1 -c64 -d5s --latency URL"},
		{ab, closed, "-k -q -c64 -t5 -n 1250000 URL"},
		{h2load, closed, "--h1 -t1 -c64 -D 5 URL"},
		{h2load, open, "--h1 -t1 -c64 -D 5 --rps=31.25 --log-file=DIR/log URL"},
		{hey, closed, "-z 5s -c 64 URL"},
		{hey, open, "-z 5s -c 64 -q 31.25 URL"},
		{bombardier, open, "-c 64 -d 5s -t 10s -l -p r -o json -r 2000 URL"},
		{oha, closed, "--no-tui --output-format json -c 64 -z 5s URL"},
		{ohaCorrected, open, "--latency-correction --no-tui --output-format json -c 64 -z 5s -q 2000 URL"},
		{vegeta, closed, "attack -targets DIR/targets -rate 0 -duration 5s -output DIR/results -workers 64 -max-workers 64 -connections 64"},
		{vegetaUnlimited, open, "attack -targets DIR/targets -rate 2000 -duration 5s -output DIR/results -workers 64"},
		{k6, open, "run --no-usage-report --quiet --address  --summary-export DIR/summary.json DIR/script.js"},
		{wholeLoad, closed, "load --json --yes -d 5s -c 64 URL"},
		{wholeLoad, open, "load --json --yes -d 5s -R 2000 --connections 64 --even URL"},
	} {
		args, err := c.tool.Args(c.load, dir)
		if err != nil {
			t.Errorf("%s: %v", c.tool.Name, err)
		}
		got := strings.NewReplacer(dir, "DIR", c.load.URL, "URL").Replace(strings.Join(args, " "))
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.tool.Name, got, c.want)
		}
	}
}

func TestScriptOfK6(t *testing.T) {
	dir := t.TempDir()
	l := load{URL: "http://127.0.0.1:1/", Seconds: 5, Connections: 64}
	for name, c := range map[string]struct {
		tool tool
		rate int
		want string
	}{
		"closed loop":             {k6, 0, "executor: 'constant-vus', vus: 64, duration: '5s'"},
		"open loop":               {k6, 1000, "executor: 'constant-arrival-rate', rate: 1000, timeUnit: '1s', duration: '5s', preAllocatedVUs: 64, maxVUs: 64"},
		"a user for each request": {k6Enough(time.Second), 1000, "executor: 'constant-arrival-rate', rate: 1000, timeUnit: '1s', duration: '5s', preAllocatedVUs: 1264, maxVUs: 1264"},
	} {
		l.Rate = c.rate
		if _, err := c.tool.Args(l, dir); err != nil {
			t.Fatal(err)
		}
		script, err := os.ReadFile(filepath.Join(dir, "script.js"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(script), "{ one: { "+c.want+" } }") || !strings.Contains(string(script), "http.get('http://127.0.0.1:1/')") {
			t.Errorf("%s: the script is\n%s\nwant %s", name, script, c.want)
		}
	}
}
