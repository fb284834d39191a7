package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/front/dryrun"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/lab"
)

const onKubernetes = "kubernetes"

// clusterFlags select the cluster.
type clusterFlags struct {
	options kube.Options
}

func (f *clusterFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.options.Namespace, "namespace", "", "with --on kubernetes: namespace of all objects (default: that of the file, then of the context)")
	c.Flags().StringVar(&f.options.Context, "context", "", "with --on kubernetes: context of the kubeconfig (default: its current context)")
	c.Flags().StringVar(&f.options.Kubeconfig, "kubeconfig", "", "with --on kubernetes: kubeconfig file (default: KUBECONFIG, then ~/.kube/config)")
}

// again are the flags by which another command selects the same cluster.
func (f *clusterFlags) again() string {
	s := "--on " + onKubernetes
	for _, flag := range [][2]string{{"kubeconfig", f.options.Kubeconfig}, {"context", f.options.Context}, {"namespace", f.options.Namespace}} {
		if flag[1] != "" {
			s += " --" + flag[0] + " " + flag[1]
		}
	}
	return s
}

// onlyOnKubernetes refuses flags that have no effect on other platforms.
func onlyOnKubernetes(cmd *cobra.Command, on string, names ...string) error {
	for _, name := range names {
		if on != onKubernetes && cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for --on kubernetes", name)
		}
	}
	return nil
}

// session returns the session of a run in the cluster.
func (f *clusterFlags) session(cmd *cobra.Command, run string, show *progress.Printer) (*launch.Session, error) {
	client, err := kube.Connect(f.options)
	if err != nil {
		return nil, err
	}
	return &launch.Session{Client: client, Run: run,
		Again: fmt.Sprintf("`millicore run --attach %s %s`", run, f.again()),
		Clean: fmt.Sprintf("`millicore clean %s --run %s`", f.again(), run),
		Line:  show.Note, Note: func(s string) { show.Note("millicore: " + s) },
		State: func(s conductor.State) {
			if s.Planned > 0 && !s.State.Ended() {
				show.Status(fmt.Sprintf("trial %d of %d", min(s.Done+1, s.Planned), s.Planned))
			}
		},
		HungUp: func() bool {
			cause := context.Cause(cmd.Context())
			return cause != nil && strings.HasPrefix(cause.Error(), syscall.SIGHUP.String())
		}}, nil
}

// runOnKubernetes starts an experiment in a cluster and, without --detach, follows it.
func runOnKubernetes(cmd *cobra.Command, o *runOptions, e *experiment.Experiment, file string) error {
	flags := o.cluster
	if flags.options.Namespace == "" {
		flags.options.Namespace = e.Kubernetes.Namespace
	}
	a := &launch.Request{Run: launch.NewName(e.Name, time.Now()), Experiment: e, File: filepath.Base(file), Seed: o.seed, Version: version}
	show := progress.New(os.Stderr)
	s, err := flags.session(cmd, a.Run, show)
	if err != nil {
		return err
	}
	if err := errors.Join(lab.Check(e), objects.Suits(e)); err != nil {
		return usageError{err}
	}
	s.Out = o.out
	if err := record.Free(s.Out); err != nil {
		return usageError{err}
	}
	needs, err := s.Check(cmd.Context(), a)
	if err != nil {
		return err
	}
	if o.dryRun {
		return dryRun(cmd, dryrun.Plan{Experiment: e, Requirements: needs, Lasts: launch.Lasts(e)}, o.asJSON)
	}
	if err := s.Start(cmd.Context(), a, needs); err != nil {
		return wrongUsage(err)
	}
	show.Note(fmt.Sprintf("Run %s is in namespace %s. It continues if this command ends: %s fetches it.", a.Run, s.Client.Namespace, s.Again))
	if o.detach {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), a.Run)
		return err
	}
	return follow(cmd, s, show, o.output)
}

// attachTo follows a run that was started earlier.
func attachTo(cmd *cobra.Command, o *runOptions) error {
	show := progress.New(os.Stderr)
	s, err := o.cluster.session(cmd, o.attach, show)
	if err != nil {
		return err
	}
	run, err := launch.Read(cmd.Context(), s.Client, o.attach)
	if errors.Is(err, launch.ErrGone) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	s.Out, s.Attached = o.out, true
	if s.Out == "" {
		s.Out = record.NewDir("runs", run.Name, time.Now())
	}
	if err := record.Free(s.Out); err != nil {
		return usageError{err}
	}
	return follow(cmd, s, show, o.output)
}

// follow follows a run until its end, and shows its record.
func follow(cmd *cobra.Command, s *launch.Session, show *progress.Printer, o output) error {
	fetched, err := s.Follow(cmd.Context())
	err = wrongUsage(err)
	if !fetched {
		return err
	}
	show.End()
	return showAfter(err, cmd, s.Out, o)
}

// wrongUsage turns an error that the user can correct into a usageError.
func wrongUsage(err error) error {
	if errors.Is(err, launch.ErrUsage) {
		return usageError{err}
	}
	return err
}

// cleanCluster removes the objects of ended runs from a namespace.
func cleanCluster(cmd *cobra.Command, flags clusterFlags, run string) error {
	client, err := kube.Connect(flags.options)
	if err != nil {
		return err
	}
	c, err := launch.Clean(cmd.Context(), client, run)
	out := cmd.OutOrStdout()
	for _, what := range c.Removed {
		fmt.Fprintf(out, "removed %s\n", display.Clean(what))
	}
	for _, one := range c.Living {
		one = display.Clean(one)
		fmt.Fprintf(out, "kept run %s, which still runs or has a record: `millicore run --attach %s %s` fetches it, --run %s removes it\n", one, one, flags.again(), one)
	}
	if err == nil && len(c.Removed) == 0 && len(c.Living) == 0 {
		fmt.Fprintf(out, "nothing to remove in namespace %s\n", client.Namespace)
	}
	if errors.Is(err, launch.ErrGone) {
		return usageError{err}
	}
	return err
}
