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
			removed, err := local.Clean()
			for _, what := range removed {
				fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", what)
			}
			if err == nil && len(removed) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing was left behind")
			}
			return err
		},
	}
}
