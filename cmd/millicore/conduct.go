package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/kubernetes/pods"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/show/report/derived"
)

// conductCommand runs in the conductor's pod. Users start it with `run --on kubernetes`.
func conductCommand() *cobra.Command {
	o := conductor.Options{Version: version, Platform: inCluster, Remove: removeRun, Stopped: awaitStop, Readers: readers, Judge: judge}
	c := &cobra.Command{
		Use:    "conduct",
		Short:  "Conduct a run in a pod of a Kubernetes cluster",
		Hidden: true,
		Args:   exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			show := progress.New(os.Stderr)
			o.Progress, o.Log = show.Progress, show
			return conductor.Conduct(cmd.Context(), o)
		},
	}
	c.Flags().StringVar(&o.Dir, "dir", "/etc/millicore", "folder with the specification of the run: run/ and secret/")
	c.Flags().StringVar(&o.Record, "record", "/var/lib/millicore/record", "folder for the record; a run that was started there is resumed")
	c.Flags().StringVar(&o.Listen, "listen", net.JoinHostPort("", strconv.Itoa(kube.ConductorPort)), "address for agents and the command line")
	return c
}

// clusterPatience is how long a conductor waits for an API server that does not answer,
// for example during an upgrade, before it gives up the trial.
const clusterPatience = 2 * time.Minute

// inCluster opens the cluster of this pod.
func inCluster(ctx context.Context, needs conductor.PlatformOptions) (platform.Platform, error) {
	client, err := kube.Connect(kube.Options{Namespace: needs.Run.Namespace})
	if err != nil {
		return nil, err
	}
	client.Patience = clusterPatience
	name := launch.Name(needs.Run.Run)
	owner, err := kube.ConfigMaps.Get(ctx, client, name)
	if err != nil {
		return nil, fmt.Errorf("find the run's ConfigMap, which owns all objects of the run: %w", err)
	}
	ip := os.Getenv("POD_IP")
	if ip == "" {
		return nil, errors.New("the variable POD_IP is not set: agents have no address to dial; the pod's template sets it")
	}
	return pods.New(pods.Options{Client: client, Run: needs.Run.Run, Owner: launch.OwnedBy(owner),
		Settings: needs.Experiment.Kubernetes, Image: needs.Run.Image, Agents: needs.Hub,
		Conductor: net.JoinHostPort(ip, strconv.Itoa(kube.ConductorPort)), Note: needs.Note})
}

// removeRun deletes the ConfigMap that owns all objects of a run, including this pod.
func removeRun(ctx context.Context, run conductor.Spec) error {
	client, err := kube.Connect(kube.Options{Namespace: run.Namespace})
	if err != nil {
		return err
	}
	return kube.ConfigMaps.Delete(ctx, client, launch.Name(run.Run), kube.Delete{Foreground: true})
}

// awaitStop returns when the user has stopped the run.
func awaitStop(ctx context.Context, run conductor.Spec) {
	client, err := kube.Connect(kube.Options{Namespace: run.Namespace})
	if err != nil { // the platform reports it too
		<-ctx.Done()
		return
	}
	launch.AwaitStop(ctx, client, run.Run)
}

// readers returns the hashes of the tokens of the run's readers.
func readers(ctx context.Context, run conductor.Spec) ([]string, error) {
	client, err := kube.Connect(kube.Options{Namespace: run.Namespace})
	if err != nil {
		return nil, err
	}
	return launch.Readers(ctx, client, run.Run)
}

// judge writes the derived files of a record, and returns what its objective ends with.
func judge(dir string) (notMet, err error) {
	data, err := results.Derive(record.Own, dir)
	if err != nil {
		return nil, err
	}
	return results.NotMet(data.Summary.Objective()), derived.Write(dir, data)
}
