package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

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
		Short: "Stop and remove what a run that was killed left behind",
		Long: "Stops the processes of runs whose millicore is gone, and removes their cgroups and the data of\n" +
			"their databases, and records of `millicore load`; with --on docker also their containers, networks and images at the Docker\n" +
			"daemon of this machine. With --on kubernetes it removes the runs of the namespace whose conductor\n" +
			"has ended or is gone, or the one that --run names, whatever it does.\n" +
			"Runs that are under way, and whatever millicore did not make, are left alone.",
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
				fmt.Fprintf(out, "removed %s\n", what)
			}
			for _, pid := range living {
				fmt.Fprintf(out, "left alone the run of process %d, which is under way\n", pid)
			}
			if err == nil && len(removed) == 0 {
				fmt.Fprintln(out, "nothing was left behind")
			}
			return err
		},
	}
	c.Flags().StringVar(&on, "on", "local", "where the run was: local, docker, kubernetes")
	c.Flags().StringVar(&run, "run", "", "with --on kubernetes: the run to be removed, also one that is under way")
	cluster.add(c)
	return c
}

func clean(ctx context.Context, on string) (removed []string, living []int, err error) {
	if on == "docker" {
		c, err := docker.Clean(ctx, docker.Options{})
		return c.Removed, c.Living, err
	}
	c, err := local.Clean(local.Options{})
	swept, sweepErr := attached.Sweep()
	return append(c.Removed, swept...), c.Living, errors.Join(err, sweepErr)
}
