package testkit

import (
	"errors"
	"testing"
	"time"
)

// Patience bounds each wait. No machine needs that long: a wait that takes it is a
// failure, not a slow machine.
const Patience = 2 * time.Minute

// Until waits until a condition holds. what states the condition, such as "the service
// is up"; a failure quotes it.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Within(t, Patience, what, holds)
}

// Within waits as Until does, with another bound, for events that take minutes.
func Within(t testing.TB, bound time.Duration, what string, holds func() bool) {
	t.Helper()
	if !poll(bound, holds) {
		t.Fatalf("not within %v: %s", bound, what)
	}
}

// Value waits until look returns a value without an error, and returns the value. The
// last error is part of a failure's message.
func Value[T any](t testing.TB, what string, look func() (T, error)) T {
	t.Helper()
	return ValueWithin(t, Patience, what, look)
}

// ValueWithin waits as Value does, with another bound.
func ValueWithin[T any](t testing.TB, bound time.Duration, what string, look func() (T, error)) T {
	t.Helper()
	var value T
	err := errors.New("it was not looked at")
	if !poll(bound, func() bool { value, err = look(); return err == nil }) {
		t.Fatalf("not within %v: %s: %v", bound, what, err)
	}
	return value
}

// poll reports whether a condition held within a bound. It looks often at first, so
// that a short wait stays short, and looks once more after the bound, so that a
// machine that stood still does not cause a failure.
func poll(bound time.Duration, holds func() bool) bool {
	const longest = 20 * time.Millisecond
	pause := time.Millisecond
	for deadline := time.Now().Add(bound); ; {
		late := time.Now().After(deadline)
		if holds() {
			return true
		}
		if late {
			return false
		}
		time.Sleep(pause)
		pause = min(2*pause, longest)
	}
}
