package traffic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
)

// Confirm asks a yes-or-no question once. Without a terminal it refuses: --yes is needed.
// When ctx ends, Confirm returns its cause.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, isTerminal bool, question string) error {
	if !isTerminal {
		return fmt.Errorf("%s Use --yes to confirm", question)
	}
	fmt.Fprintf(out, "%s [y/N] ", display.Clean(question))
	answered := make(chan string, 1)
	go func() { // a read cannot be cancelled; the program ends soon after ctx
		var answer string
		fmt.Fscanln(in, &answer)
		answered <- strings.ToLower(answer)
	}()
	select {
	case a := <-answered:
		if a != "y" && a != "yes" {
			return errors.New("not confirmed; nothing was sent")
		}
		return nil
	case <-ctx.Done():
		fmt.Fprintln(out)
		return context.Cause(ctx)
	}
}
