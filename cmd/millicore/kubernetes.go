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

	"github.com/millicore/millicore/internal/conductor"
	"github.com/millicore/millicore/internal/exit"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/platform/kubernetes"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/remote"
)

const onKubernetes = "kubernetes"

// clusterFlags say which cluster is meant.
type clusterFlags struct {
	options kube.Options
}

func (f *clusterFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.options.Namespace, "namespace", "", "with --on kubernetes: where all objects are (default: the file's, then the context's)")
	c.Flags().StringVar(&f.options.Context, "context", "", "with --on kubernetes: a context of the kubeconfig (default: its current one)")
	c.Flags().StringVar(&f.options.Kubeconfig, "kubeconfig", "", "with --on kubernetes: file (default: KUBECONFIG, then ~/.kube/config)")
}

// again are the flags that lead another command to the same cluster.
func (f *clusterFlags) again() string {
	s := "--on " + onKubernetes
	for _, flag := range [][2]string{{"kubeconfig", f.options.Kubeconfig}, {"context", f.options.Context}, {"namespace", f.options.Namespace}} {
		if flag[1] != "" {
			s += " --" + flag[0] + " " + flag[1]
		}
	}
	return s
}

// onlyOnKubernetes refuses flags that mean nothing elsewhere.
func onlyOnKubernetes(cmd *cobra.Command, on string, names ...string) error {
	for _, name := range names {
		if on != onKubernetes && cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for --on kubernetes", name)
		}
	}
	return nil
}

// cluster is one run in a cluster, seen from here.
type cluster struct {
	cmd    *cobra.Command
	flags  clusterFlags
	client *kube.Client
	show   *progress
	out    string // folder for the record
	asJSON bool

	attached bool // to a run that another call began
}

func connect(cmd *cobra.Command, flags clusterFlags, show *progress) (*cluster, error) {
	client, err := kube.Connect(flags.options)
	if err != nil {
		return nil, err
	}
	return &cluster{cmd: cmd, flags: flags, client: client, show: show}, nil
}

// runOnKubernetes starts an experiment in a cluster, and follows it unless it is
// to be left there.
func runOnKubernetes(cmd *cobra.Command, o *runOptions, e *experiment.Experiment, file string) error {
	flags := o.cluster
	if flags.options.Namespace == "" {
		flags.options.Namespace = e.Kubernetes.Namespace
	}
	k, err := connect(cmd, flags, newProgress(os.Stderr))
	if err != nil {
		return err
	}
	k.out, k.asJSON = o.out, o.asJSON
	if err := errors.Join(lab.Check(e), kubernetes.Suits(e)); err != nil {
		return usageError{err}
	}
	if err := record.Free(k.out); err != nil {
		return usageError{err}
	}
	a := &remote.Asked{Run: remote.NewName(e.Name, time.Now()), Experiment: e, File: filepath.Base(file), Seed: o.seed, Version: version}
	needs, err := remote.Check(cmd.Context(), k.client, a)
	if cmd.Context().Err() != nil {
		return interrupted("interrupted; nothing was started")
	}
	if err != nil {
		return err
	}
	if o.dryRun {
		return dryRun(cmd, e, needs, o.asJSON)
	}
	if err := needs.Err(); err != nil {
		return usageError{err}
	}
	for _, need := range needs {
		if need.State == remote.Noted || need.State == remote.Unknown {
			k.show.note(fmt.Sprintf("millicore: %s: %s", need.What, need.Words))
		}
	}
	if err := remote.Start(cmd.Context(), k.client, a); err != nil {
		if cmd.Context().Err() != nil {
			return interrupted("interrupted; what was started is removed")
		}
		return err
	}
	k.show.note(fmt.Sprintf("Run %s is in namespace %s. It goes on without this: %s fetches it.", a.Run, k.client.Namespace, k.attach(a.Run)))
	if o.detach {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), a.Run)
		return err
	}
	return k.follow(a.Run)
}

// attachTo takes up a run that is in a cluster.
func attachTo(cmd *cobra.Command, o *runOptions) error {
	k, err := connect(cmd, o.cluster, newProgress(os.Stderr))
	if err != nil {
		return err
	}
	run, err := remote.Read(cmd.Context(), k.client, o.attach)
	if errors.Is(err, remote.ErrGone) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	k.out, k.asJSON = o.out, o.asJSON
	if k.out == "" {
		k.out = record.NewDir("runs", run.Name, time.Now())
	}
	if err := record.Free(k.out); err != nil {
		return usageError{err}
	}
	k.attached = true
	return k.follow(o.attach)
}

// attach is the command that takes up a run.
func (k *cluster) attach(run string) string {
	return fmt.Sprintf("`millicore run --attach %s %s`", run, k.flags.again())
}

// errLeft ends a client whose terminal is gone; its run goes on.
var errLeft = errors.New("the terminal is gone")

// follow follows a run to its end, fetches its record, removes it from the
// cluster, and shows the record.
func (k *cluster) follow(run string) error {
	asked := k.cmd.Context()
	ctx, leave := context.WithCancelCause(context.WithoutCancel(asked))
	defer leave(nil)
	f := &remote.Follower{Client: k.client, Run: run, Line: k.show.note, Note: func(s string) { k.show.note("millicore: " + s) },
		State: func(s conductor.State) {
			if s.Planned > 0 && !s.State.Ended() {
				k.show.status(fmt.Sprintf("trial %d of %d", min(s.Done+1, s.Planned), s.Planned))
			}
		}}
	stopped := context.AfterFunc(asked, func() { k.stop(ctx, f, leave) })
	defer stopped()
	pod, state, err := f.Follow(ctx)
	switch {
	case errors.Is(err, errLeft):
		return interrupted("the terminal is gone; the run goes on: " + k.attach(run))
	case errors.Is(err, errInterrupted), errors.Is(err, remote.ErrLost), errors.Is(err, remote.ErrWaits) && !k.attached && !f.Started():
		k.remove(run)
		return err
	case errors.Is(err, remote.ErrGone):
		return err
	case err != nil:
		return fmt.Errorf("%w; %s takes it up again", err, k.attach(run))
	}
	runErr := stateError(state)
	err = f.Fetch(ctx, pod, k.out)
	switch {
	case errors.Is(err, remote.ErrNoRecord):
		k.remove(run)
		return errors.Join(runErr, err)
	case err != nil:
		return errors.Join(runErr, fmt.Errorf("%w; it is kept in the cluster for a while, and %s fetches it", err, k.attach(run)))
	}
	k.remove(run)
	k.show.end()
	told := tell(k.cmd, k.out, k.asJSON)
	if runErr != nil && errors.Is(told, errMissed) {
		told = nil
	}
	return errors.Join(runErr, told)
}

// stop ends a run whose user pressed Ctrl-C, as a local run ends: cleanly, with
// what was measured. A terminal that is gone ends nothing.
func (k *cluster) stop(ctx context.Context, f *remote.Follower, leave context.CancelCauseFunc) {
	if cause := context.Cause(k.cmd.Context()); cause != nil && strings.HasPrefix(cause.Error(), syscall.SIGHUP.String()) {
		leave(errLeft)
		return
	}
	if !f.Started() {
		leave(interrupted("interrupted before anything was measured; the run is removed"))
		return
	}
	k.show.note("millicore: the run is told to end, and its record is fetched; Ctrl-C once more leaves that to " + k.attach(f.Run))
	for ctx.Err() == nil {
		err := remote.Stop(ctx, k.client, f.Run)
		if err == nil {
			return
		}
		k.show.note(fmt.Sprintf("millicore: %v; trying again", err))
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

// remove removes a run from the cluster; what could not be is told, and is no
// error of the run's.
func (k *cluster) remove(run string) {
	ctx := context.WithoutCancel(k.cmd.Context())
	if err := remote.Remove(ctx, k.client, run); err != nil {
		k.show.note(fmt.Sprintf("millicore: %v; `millicore clean %s --run %s` asks again", err, k.flags.again(), run))
	}
}

// stateError is what a conductor says of its run, as the error of a local run.
func stateError(s conductor.State) error {
	switch {
	case s.State == conductor.Stopped:
		return errInterrupted
	case s.State == conductor.Done:
		return nil
	case s.Exit == exit.Usage:
		return usageError{errors.New(s.Error)}
	}
	return errors.New(s.Error)
}

// interrupted ends a run that its user stopped, in other words than
// errInterrupted.
type interrupted string

func (i interrupted) Error() string        { return string(i) }
func (i interrupted) Is(target error) bool { return target == errInterrupted }

// cleanCluster removes what runs that are over have left in a namespace.
func cleanCluster(cmd *cobra.Command, flags clusterFlags, run string) error {
	client, err := kube.Connect(flags.options)
	if err != nil {
		return err
	}
	c, err := remote.Clean(cmd.Context(), client, run)
	out := cmd.OutOrStdout()
	for _, what := range c.Removed {
		fmt.Fprintf(out, "removed %s\n", what)
	}
	for _, one := range c.Living {
		fmt.Fprintf(out, "left alone run %s, which is under way or keeps its record: `millicore run --attach %s %s` fetches it, --run %s removes it\n", one, one, flags.again(), one)
	}
	if err == nil && len(c.Removed) == 0 && len(c.Living) == 0 {
		fmt.Fprintf(out, "nothing was left behind in namespace %s\n", client.Namespace)
	}
	if errors.Is(err, remote.ErrGone) {
		return usageError{err}
	}
	return err
}
