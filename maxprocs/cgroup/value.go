package cgroup

import (
	"errors"
	"fmt"
)

// State tells the three answers to "is this measured?" apart.
type State uint8

// The three answers.
const (
	Absent     State = iota // this kernel or host does not have it
	Measured                // there is a value
	Unreadable              // it should be there; Err says why it was not read
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

// Value is an answer of the kernel: a value, absent, or unreadable. The zero
// Value is absent, so that a field that nobody filled does not read as 0.
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

// State returns which of the three answers v is.
func (v Value[T]) State() State { return v.state }

// Err returns why v is unreadable; nil for the other two answers.
func (v Value[T]) Err() error { return v.err }

// String is the value, "absent", or "unreadable: " and why.
func (v Value[T]) String() string {
	switch v.state {
	case Measured:
		return fmt.Sprint(v.value)
	case Unreadable:
		return "unreadable: " + v.err.Error()
	}
	return Absent.String()
}
