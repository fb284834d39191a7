package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/platform/local"
)

func cleanCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Stop and remove what a run that was killed left behind",
		Long: "Stops the processes and removes the cgroups of runs whose millicore is gone.\n" +
			"Runs that are under way, and whatever millicore did not make, are left alone.",
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			cleaned, err := local.Clean(local.Options{})
			for _, what := range cleaned.Removed {
				fmt.Fprintf(out, "removed %s\n", what)
			}
			for _, pid := range cleaned.Living {
				fmt.Fprintf(out, "left alone the run of process %d, which is under way\n", pid)
			}
			if err == nil && len(cleaned.Removed) == 0 {
				fmt.Fprintln(out, "nothing was left behind")
			}
			return err
		},
	}
}
