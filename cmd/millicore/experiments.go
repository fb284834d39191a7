package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/experiments"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

func experimentsCommand() *cobra.Command {
	var schema bool
	c := &cobra.Command{
		Use:   "experiments [NAME]",
		Short: "List the experiments that ship, or print one",
		Example: "  millicore experiments\n" +
			"  millicore experiments quick > mine.yaml",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exactly(1, "one name, or none for the list")(cmd, args)
			}
			return nil
		},
		ValidArgsFunction: completeExperiments(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if schema {
				_, err := out.Write(file.Schema())
				return err
			}
			if len(args) == 1 {
				text, err := shipped(args[0])
				if err != nil {
					return usageError{err}
				}
				_, err = out.Write(text)
				return err
			}
			t, widest := display.TerminalOf(out), 0
			for _, name := range experiments.Names() {
				widest = max(widest, len(name))
			}
			for _, name := range experiments.Names() {
				e, _, err := readExperiment(name, nil)
				if err != nil {
					return err
				}
				first, _, _ := strings.Cut(strings.TrimSpace(e.About), "\n")
				if _, err := fmt.Fprintln(out, hanging(name, widest+2, first, t)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of experiment files")
	return c
}
