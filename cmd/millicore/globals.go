package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/front/progress"
)

// globals are the flags of every command.
type globals struct {
	color string
	quiet bool
}

func (g *globals) define(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&g.color, "color", display.Colours[0], "use colours `WHEN`: auto (on terminals, unless NO_COLOR is set), always, never")
	flags.BoolVarP(&g.quiet, "quiet", "q", false, "no progress; results, warnings and errors remain")
	completeWords(root, "color", display.Colours)
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if err := oneOf("color", g.color, display.Colours); err != nil {
			return err
		}
		display.UseColours(g.color)
		progress.Quiet(g.quiet)
		return nil
	}
}

// watched is where a live view goes: standard error, or nowhere with --quiet.
func watched() (out *os.File, done func()) {
	if !progress.IsQuiet() {
		return os.Stderr, func() {}
	}
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return os.Stderr, func() {}
	}
	return nowhere, func() { nowhere.Close() }
}
