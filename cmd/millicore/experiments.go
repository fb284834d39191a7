package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/experiments"
	"github.com/millicore/millicore/internal/experiment/file"
)

func experimentsCommand() *cobra.Command {
	var schema bool
	c := &cobra.Command{
		Use:   "experiments [NAME]",
		Short: "List the experiments that ship, or print one as a start for your own",
		Example: "  millicore experiments\n" +
			"  millicore experiments quick > mine.yaml",
		Args: cobra.MaximumNArgs(1),
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
			rows := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			for _, name := range shippedNames() {
				e, _, err := readExperiment(name, nil)
				if err != nil {
					return err
				}
				first, _, _ := strings.Cut(strings.TrimSpace(e.About), "\n")
				fmt.Fprintf(rows, "%s\t%s\n", name, first)
			}
			return rows.Flush()
		},
	}
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of experiment files, for editors")
	return c
}

// shipped gives the text of an experiment that ships.
func shipped(name string) ([]byte, error) {
	text, err := experiments.Files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("experiment %q: no such file, and none that ships is named so; these ship: %s", name, strings.Join(shippedNames(), ", "))
	}
	return text, nil
}

// shippedNames are the names in order.
func shippedNames() []string {
	files, err := experiments.Files.ReadDir(".")
	if err != nil {
		panic(err) // the files are part of the program
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	return names
}
