package testkit

import (
	"encoding/json"
	"errors"
	"os/exec"
	"testing"
)

// missed is the exit code of a call that has an answer, and missed an objective or a
// threshold.
const missed = 99

// Answered fails the test unless a call of millicore ended with an answer: exit code 0, or
// that of a missed objective. err is the result of Run or Wait; messages are what the call
// wrote to standard error.
func Answered(t testing.TB, err error, messages string) {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == missed) {
		t.Fatalf("%v\n%s", err, messages)
	}
}

// Answer reads the standard output of a call with --json into a value. Its arguments are
// those of Answered.
func Answer[T any](t testing.TB, err error, out []byte, messages string) *T {
	t.Helper()
	Answered(t, err, messages)
	value := new(T)
	if err := json.Unmarshal(out, value); err != nil {
		t.Fatalf("%v in:\n%s\n%s", err, out, messages)
	}
	return value
}
