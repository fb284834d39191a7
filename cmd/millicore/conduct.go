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

	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/kubernetes"
	"github.com/millicore/millicore/internal/progress"
	"github.com/millicore/millicore/internal/report/derived"
	"github.com/millicore/millicore/internal/results"
)

// conductCommand is what the pod of a conductor runs; people start it with `run
// --on kubernetes`.
func conductCommand() *cobra.Command {
	o := conductor.Options{Version: version, Platform: inCluster, Remove: removeRun, Stopped: awaitStop, Missed: missed}
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
	c.Flags().StringVar(&o.Dir, "dir", "/etc/millicore", "folder with what is to be run: run/ and secret/")
	c.Flags().StringVar(&o.Record, "record", "/var/lib/millicore/record", "folder for the record; a run that was begun there goes on")
	c.Flags().StringVar(&o.Listen, "listen", net.JoinHostPort("", strconv.Itoa(kube.ConductorPort)), "address for agents and the command line")
	return c
}

// clusterPatience is how long a conductor waits for an API server that is away,
// as one is while it is upgraded: nobody looks on, and a trial is at stake.
const clusterPatience = 2 * time.Minute

// inCluster opens the cluster that this pod is in.
func inCluster(ctx context.Context, needs conductor.PlatformOptions) (platform.Platform, error) {
	client, err := kube.Connect(kube.Options{Namespace: needs.Run.Namespace})
	if err != nil {
		return nil, err
	}
	client.Patience = clusterPatience
	name := launch.Name(needs.Run.Run)
	owner, err := kube.ConfigMaps.Get(ctx, client, name)
	if err != nil {
		return nil, fmt.Errorf("find the run's ConfigMap, which owns all that is made: %w", err)
	}
	ip := os.Getenv("POD_IP")
	if ip == "" {
		return nil, errors.New("the variable POD_IP is not set: agents have no address to dial; the pod's template sets it")
	}
	return kubernetes.New(kubernetes.Options{Client: client, Run: needs.Run.Run, Owner: launch.OwnedBy(owner),
		Settings: needs.Experiment.Kubernetes, Image: needs.Run.Image, Agents: needs.Hub,
		Conductor: net.JoinHostPort(ip, strconv.Itoa(kube.ConductorPort)), Secret: name, Note: needs.Note})
}

// removeRun deletes what owns all that a run made, this pod included.
func removeRun(ctx context.Context, run conductor.Spec) error {
	client, err := kube.Connect(kube.Options{Namespace: run.Namespace})
	if err != nil {
		return err
	}
	return kube.ConfigMaps.Delete(ctx, client, launch.Name(run.Run), kube.Delete{Foreground: true})
}

// awaitStop returns when the run's user has ended it.
func awaitStop(ctx context.Context, run conductor.Spec) {
	client, err := kube.Connect(kube.Options{Namespace: run.Namespace})
	if err != nil { // which the platform says, too
		<-ctx.Done()
		return
	}
	launch.AwaitStop(ctx, client, run.Run)
}

// missed writes what is derived from a record, and tells whether its objective
// was missed.
func missed(dir string) (bool, error) {
	data, err := results.Derive(dir)
	if err != nil {
		return false, err
	}
	return data.Summary.Missed(), derived.Write(dir, data)
}
