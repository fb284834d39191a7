package testkit

import (
	"encoding/json"
	"errors"
	"os/exec"
	"testing"
)

// The exit codes of a call that has an answer, and missed an objective or a threshold, or did
// not decide it.
const (
	missed    = 99
	undecided = 98
)

// Answered fails the test unless a call of millicore ended with an answer: exit code 0, or
// that of an objective that was missed or not decided. err is the result of Run or Wait; messages are what the call
// wrote to standard error.
func Answered(t testing.TB, err error, messages string) {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && (exit.ExitCode() == missed || exit.ExitCode() == undecided)) {
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
