package traffic

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
		var prompt strings.Builder
		err := Confirm(t.Context(), strings.NewReader(answer), &prompt, true, "Send load?")
		if (err == nil) != want || prompt.String() != "Send load? [y/N] " {
			t.Errorf("answer %q to %q: %v", answer, prompt.String(), err)
		}
	}
}

func TestConfirmNeedsATerminal(t *testing.T) {
	if err := Confirm(t.Context(), strings.NewReader("y\n"), io.Discard, false, "Send load?"); err == nil {
		t.Error("confirmed without a terminal")
	}
}

func TestAnInterruptEndsTheQuestion(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	never, _ := io.Pipe()
	cause := errors.New("interrupted")
	interrupt(cause)
	if err := Confirm(ctx, never, io.Discard, true, "Send load?"); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
}
