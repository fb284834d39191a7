package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/front/reach"

	"github.com/spf13/cobra"
)

// flagged parses the flags of a command line.
func flagged(t *testing.T, args ...string) (*loadFlags, error) {
	t.Helper()
	f, c := &loadFlags{}, &cobra.Command{}
	f.define(c)
	if err := c.Flags().Parse(args); err != nil {
		t.Fatal(err)
	}
	return f, f.Contradiction(c.Flags().Changed)
}

func TestContradictingFlags(t *testing.T) {
	for line, want := range map[string]string{
		"--stages=":        "--stages is empty",
		"-t 0":             "want 1 or more",
		"--timeout 0s":     "want a time above 0",
		"-c 2.5 -R 10":     "a whole number",
		"-n 5 -d 1s":       "keep one",
		"-c 2.5":           "a whole number",
		"--open -c 5":      "--open needs --stages",
		"-R 0":             "above 0",
		"-n 5 --warmup 1s": "there is no --warmup",
		"-d -1":            "want a time above 0",
		"-b @":             "want the name of a file",

		"--no-keepalive --http2": "HTTP/1.1",
		"--cacert x -k":          "keep one",

		"-c 5 -R 10 --connections 5": "keep one",
	} {
		if _, err := flagged(t, strings.Fields(line)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want in it: %s", line, err, want)
		}
	}
}

// With a rate, -c is the number of connections, as with wrk2, hey and oha.
func TestConnectionsOfARate(t *testing.T) {
	target, err := reach.ParseTarget("http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{"-R 10 -c 7": 7, "-R 10 --connections 7": 7, "-R 10": 0, "-c 7": 0} {
		f, err := flagged(t, strings.Fields(line)...)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		e, err := f.Experiment(target, nil)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := e.Cells[0].Load.Connections; got != want {
			t.Errorf("%s: %d connections; want %d", line, got, want)
		}
	}
}

// The Host header is that of the URL, unless -H sets it.
func TestTheHostHeader(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.5/": "127.0.0.5", "http://[::1]:8080/": "[::1]:8080", "https://127.0.0.1/": "127.0.0.1",
	} {
		target, err := reach.ParseTarget(url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, own := range []string{"", "host: other"} {
			args := []string{}
			if own != "" {
				args, want = []string{"-H", own}, "other"
			}
			f, _ := flagged(t, args...)
			e, err := f.Experiment(target, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for name, value := range e.Cells[0].Load.Request.Headers {
				if strings.EqualFold(name, "Host") {
					got = append(got, value)
				}
			}
			if !slices.Equal(got, []string{want}) {
				t.Errorf("%s %s: Host %q, want %q", url, own, got, want)
			}
		}
	}
}

// The default of 50 users is lowered to the number of requests. A value of -c is not:
// see -n in TestErrorsNameTheFlag.
func TestFewerRequestsThanUsualUsers(t *testing.T) {
	target, err := reach.ParseTarget("http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]float64{"-n 10": 10, "-n 100": 50, "-n 100 -c 20": 20} {
		f, _ := flagged(t, strings.Fields(line)...)
		e, err := f.Experiment(target, nil)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if users := e.Cells[0].Load.Users.Value; users != want {
			t.Errorf("%s: %v users, want %v", line, users, want)
		}
	}
}

// A body implies POST, and @FILE is a file with it. A number alone is in seconds.
func TestFlagsAsInOtherTools(t *testing.T) {
	target, err := reach.ParseTarget("http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("{{raw}}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"":                           "GET   10s",
		"-d 3":                       "GET   3s",
		"-d 1.5 --warmup 2":          "GET   1.5s",
		"-d 2m":                      "GET   2m0s",
		"-b text":                    "POST text  10s",
		"-b text -m put":             "PUT text  10s",
		"-m delete":                  "DELETE   10s",
		"-b @" + file:                "POST  {{raw}} 10s",
		"--body-file " + file:        "POST  {{raw}} 10s",
		"-m GET --body-file " + file: "GET  {{raw}} 10s",
	} {
		f, err := flagged(t, strings.Fields(line)...)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		e, err := f.Experiment(target, nil)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		r := &e.Cells[0].Load.Request
		if got := fmt.Sprintf("%s %s %s %v", r.Method, r.Body, r.Inputs.Body, e.Measure.Duration); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	f, _ := flagged(t, "--no-keepalive")
	e, err := f.Experiment(target, nil)
	if err != nil || e.Cells[0].Load.Request.Headers["Connection"] != "close" {
		t.Errorf("--no-keepalive: %v, %v", e, err)
	}
}

// Errors name the flag, not the field of the experiment that the flag sets.
func TestErrorsNameTheFlag(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--basic-env", "A=B"}, `--basic-env: "A=B" is not a valid name of an environment variable`},
		{[]string{"--bearer-env", "A=B"}, `--bearer-env: "A=B" is not a valid name of an environment variable`},
		{[]string{"--stages", "10s:1.5"}, "--stages: 1.5 is not a whole number"},
		{[]string{"--stages", "0s:5"}, "--stages: the stages have no length"},
		{[]string{"-k"}, "-k: there is no certificate without TLS; use the protocol https or h2"},
		{[]string{"--even"}, "--even: spacing is for rate, or for users that think; other users send as soon as they have their answer"},
		{[]string{"-c", "20", "-n", "5"}, "-n: 5 are too few for 20 users to send one each"},
		{[]string{"-c", "2000000"}, "-c: 2000000 is more than 1000000"},
		{[]string{"-m", "GTE"}, `-m: unknown method "GTE"; did you mean "GET"?`},
		{[]string{"-H", "Content-Length: 5"}, `-H: header "Content-Length" is set by the agent; leave it out`},
		{[]string{"--status", "99"}, `--status: "99" is not a status of an answer; write one from 200 to 599, or the name of a code of gRPC, such as NOT_FOUND`},
		{[]string{"-d", "500ms"}, "-d: measure.interval: a frame of 1s is longer than the measured part of 500ms; extend the measurement, or shorten the frames"},
		{[]string{"-b", "caf\xe9"}, `-b: "caf\xe9" is not UTF-8`},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			target, err := reach.ParseTarget("http://127.0.0.1/", nil)
			if err != nil {
				t.Fatal(err)
			}
			f, _ := flagged(t, c.args...)
			if _, err := f.Experiment(target, nil); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// After Ctrl-C only what is there is named.
func TestAnInterruptedLoadClaimsNoRecordWithoutOut(t *testing.T) {
	for _, c := range []struct {
		out     string
		nothing bool
		record  bool
	}{{"", false, false}, {"", true, false}, {"runs/x", false, true}, {"runs/x", true, false}} {
		f := loadFlags{out: c.out}
		err := f.interruption(c.nothing)
		if !errors.Is(err, errInterrupted) || strings.Contains(err.Error(), "the record holds") != c.record {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if !errors.Is(errProbing, errInterrupted) || !strings.Contains(errProbing.Error(), "there is no record") {
		t.Errorf("try: %v", errProbing)
	}
}
