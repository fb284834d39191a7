package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/platform/attached"
	"github.com/millicore/millicore/internal/platform/docker"
	"github.com/millicore/millicore/internal/platform/local"
)

func cleanCommand() *cobra.Command {
	var (
		on, run string
		cluster clusterFlags
	)
	c := &cobra.Command{
		Use:   "clean",
		Short: "Stop and remove what a killed run left behind",
		Long: "Clean stops the processes of runs whose millicore process has ended. It removes their control\n" +
			"groups, the data of their databases, and the temporary records of `millicore load`. With\n" +
			"--on docker it also removes their containers, networks and images from this machine's Docker.\n" +
			"With --on kubernetes it removes the runs of the namespace whose conductor has ended, or the run\n" +
			"that --run names, even if it is running.\n\n" +
			"Other running runs, and everything that Millicore did not create, are kept.",
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOn(on); err != nil {
				return usageError{err}
			}
			if err := onlyOnKubernetes(cmd, on, "run", "namespace", "context", "kubeconfig"); err != nil {
				return usageError{err}
			}
			if on == onKubernetes {
				return cleanCluster(cmd, cluster, run)
			}
			removed, living, err := clean(cmd.Context(), on)
			out := cmd.OutOrStdout()
			for _, what := range removed {
				fmt.Fprintf(out, "removed %s\n", display.Clean(what))
			}
			slices.Sort(living)
			for _, pid := range slices.Compact(living) { // of one process there may be several things
				fmt.Fprintf(out, "kept the run of process %d, which is still running\n", pid)
			}
			if err == nil && len(removed) == 0 {
				fmt.Fprintln(out, "nothing to remove")
			}
			return err
		},
	}
	c.Flags().StringVar(&on, "on", "local", "where the run was: local, docker or kubernetes")
	c.Flags().StringVar(&run, "run", "", "with --on kubernetes: remove this run, even if it is running")
	cluster.add(c)
	return c
}

func clean(ctx context.Context, on string) (removed []string, living []int, err error) {
	if on == "docker" {
		c, err := docker.Clean(ctx, docker.Options{})
		return c.Removed, c.Living, err
	}
	c, err := local.Clean(local.Options{})
	swept, users, sweepErr := attached.Sweep()
	return append(c.Removed, swept...), append(c.Living, users...), errors.Join(err, sweepErr)
}
