// Package examine is the front end of `millicore doctor`: it scans the host, and prints what
// package doctor finds in the form that the user chose.
package examine

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/show/diagnosis"
)

// Options are what the user asks for.
type Options struct {
	Only    inspect.Only
	Watch   time.Duration
	Level   doctor.Level // from which on a finding is a failure
	Version string       // of this program

	JSON, Patch, Details bool
}

// Run scans the host and prints the findings. The error is exit.NotMet if there is a finding
// at the level or above, and wraps inspect.ErrNone if nothing matches what is to be inspected.
func (o *Options) Run(ctx context.Context, out io.Writer) error {
	if o.Watch > 0 && !progress.IsQuiet() && term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "watching for %s (--for 0: no watch, and no findings about throttling)…\n", span.Text(o.Watch))
	}
	host, err := inspect.New("").Scan(ctx, o.Only, o.Watch)
	if err != nil {
		return err
	}
	findings := doctor.Examine(host)
	if err := o.print(out, host, findings); err != nil {
		return err
	}
	if doctor.AtLeast(findings, o.Level) {
		return exit.NotMet(exit.Missed)
	}
	return nil
}

func (o *Options) print(out io.Writer, host inspect.Host, findings []doctor.Finding) error {
	switch {
	case o.JSON:
		name, _ := os.Hostname() // "" if it is not known
		return diagnosis.JSON(out, diagnosis.Run{Host: name, Time: time.Now(), Version: o.Version}, host, findings)
	case o.Patch:
		return diagnosis.Patch(out, findings)
	}
	return diagnosis.Write(out, host, findings, o.Details, display.TerminalOf(os.Stdout))
}
