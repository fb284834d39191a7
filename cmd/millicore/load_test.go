package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAHostIsLoadedOnlyIfSomebodySaysYes(t *testing.T) {
	for answer, allowed := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
		var asked strings.Builder
		err := ask(t.Context(), strings.NewReader(answer), &asked, true, "May it be loaded?")
		if (err == nil) != allowed || asked.String() != "May it be loaded? [y/N] " {
			t.Errorf("answered %q after %q: %v", answer, asked.String(), err)
		}
	}
	if err := ask(t.Context(), strings.NewReader("y\n"), io.Discard, false, "May it?"); err == nil || err.Error() != "May it? Say --yes if it may be" {
		t.Errorf("where nobody can be asked: %v", err)
	}
}

func TestAnInterruptEndsTheQuestion(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	never, _ := io.Pipe()
	interrupt()
	err := ask(ctx, never, io.Discard, true, "May it be loaded?")
	if !errors.Is(err, errInterrupted) || err.Error() != "interrupted; nothing was sent" {
		t.Errorf("got %v", err)
	}
}
