package main

import (
	"context"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/millicore/millicore/internal/base/tui"
)

// endWithin is how long a command may take to end after the first signal, whatever it
// waits for: a file that nobody writes, a daemon or a server that does not answer. With
// the end of the program it is less than the 2 s of docs/commands.md.
const endWithin = 1500 * time.Millisecond

// overdue returns a channel that is closed when the command should have ended.
func (e *execution) overdue(ctx context.Context) <-chan struct{} {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() {
		time.AfterFunc(endWithin, func() {
			if !e.endsElsewhere() {
				close(over)
			}
		})
	})
	return over
}

// endsElsewhere reports whether the command ends what takes place in a cluster, which
// takes its time: the run is stopped there, and its record is fetched.
func (e *execution) endsElsewhere() bool {
	c := e.begun.Load()
	if c == nil {
		return false
	}
	on, attached := c.Flag("on"), c.Flag("attach")
	return c.Name() == "conduct" || c.Name() == "run" && (on.Value.String() == onKubernetes || attached.Value.String() != "")
}

// unfinished says what the command may have left.
func (e *execution) unfinished() string {
	text := "interrupted; what it waited for did not end"
	if c := e.begun.Load(); c != nil {
		switch c.Name() {
		case "run", "try", "load":
			text += ": `millicore clean` removes what it left, and `millicore report DIR` shows a record"
		}
	}
	return text
}

// terminal returns a function that puts the terminal back as it is now: a picture that is
// not removed would leave it without an echo.
func terminal() (restore func()) {
	in := int(os.Stdin.Fd())
	state, err := term.GetState(in)
	if err != nil {
		return func() {}
	}
	return func() {
		_ = term.Restore(in, state)
		if tui.Can(os.Stdout) {
			_, _ = os.Stdout.WriteString(tui.Off)
		}
	}
}
