package cgroup

import (
	"errors"
	"fmt"
)

// State is the answer to the question whether a value was measured.
type State uint8

// The three states.
const (
	Absent     State = iota // this kernel or host does not have it
	Measured                // there is a value
	Unreadable              // it should exist; Err is why it was not read
)

func (s State) String() string {
	switch s {
	case Absent:
		return "absent"
	case Measured:
		return "measured"
	case Unreadable:
		return "unreadable"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Value is a value that was measured, is absent, or is unreadable. The zero Value is
// absent, so that an unset field does not read as 0.
type Value[T any] struct {
	value T
	state State
	err   error
}

// ValueOf returns a measured Value.
func ValueOf[T any](v T) Value[T] {
	return Value[T]{value: v, state: Measured}
}

// UnreadableValue returns a Value that could not be read because of err.
func UnreadableValue[T any](err error) Value[T] {
	if err == nil {
		err = errors.New("unreadable for an unknown reason")
	}
	return Value[T]{state: Unreadable, err: err}
}

// Get returns the value, and whether there is one.
func (v Value[T]) Get() (T, bool) { return v.value, v.state == Measured }

// Pointer returns the value; nil if there is none.
func (v Value[T]) Pointer() *T {
	if v.state != Measured {
		return nil
	}
	return &v.value
}

// State returns the state of v.
func (v Value[T]) State() State { return v.state }

// Err returns why v is unreadable; nil in the other two states.
func (v Value[T]) Err() error { return v.err }

// String is the value, "absent", or "unreadable: " and the reason.
func (v Value[T]) String() string {
	switch v.state {
	case Measured:
		return fmt.Sprint(v.value)
	case Unreadable:
		return "unreadable: " + v.err.Error()
	}
	return Absent.String()
}
