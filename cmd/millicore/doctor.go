package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/front/examine"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/kubernetes/fleet"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

func doctorCommand() *cobra.Command {
	f := examine.Options{Version: version}
	on, manifest, image, cluster := "", false, "", clusterFlags{}
	c := &cobra.Command{
		Use:   "doctor [--pid N | --container NAME | --on kubernetes] [--for 10s]",
		Short: "Find the mis-sized services of this host: parallelism, throttling and memory against the limits",
		Long: "Doctor inspects every process of this host or of one container: its CPU limit and the control\n" +
			"group that sets it, its runtime and parallelism, and the throttling that the kernel counts\n" +
			"over a short time. Run it under load. It reports what is mis-sized, the worst first, the exact\n" +
			"change, and the `millicore try` command that verifies the change: a throttled service is not\n" +
			"always slower. --details has the evidence of each finding.\n\n" +
			"Doctor changes nothing and sends no signals. It needs root to see the processes of other users.\n" +
			"The exit code is 99 if there is a finding at or above --level, else 98 if a process that may be\n" +
			"under a limit could not be read, else 0. A finding of level info recommends no change; warning\n" +
			"and critical do.\n\n" +
			"With --on kubernetes it looks at all nodes of a cluster at once, through the pods of a DaemonSet\n" +
			"that --manifest prints. The table has a line for each workload and problem, the worst first.",
		Example: "  sudo millicore doctor\n" +
			"  millicore doctor --pid 4242 --for 30s\n" +
			"  millicore doctor --container api --json\n" +
			"  sudo millicore doctor --baseline last-week.json --suppress accepted.yaml\n" +
			"  millicore doctor --manifest > doctor.yaml\n" +
			"  millicore doctor --on kubernetes --for 1m",
		Args: exactly(0, "no arguments; name a process with --pid, a container with --container"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch flag := cmd.Flags().Changed; {
			case flag("container") && f.Only.Container == "":
				return usageError{errors.New("--container: want a name or an id")}
			case flag("pid") && f.Only.PID <= 0:
				return usageError{fmt.Errorf("--pid %d: want a process ID", f.Only.PID)}
			case flag("patch") && f.Patch == "":
				return usageError{errors.New("--patch: want a folder")}
			case on != "" && on != onKubernetes:
				return usageError{fmt.Errorf("--on %s: want %s; without it doctor inspects this host", on, onKubernetes)}
			case manifest:
				if err := fleet.WriteManifest(cmd.OutOrStdout(), image, version); !errors.Is(err, fleet.ErrNoImage) {
					return err
				}
				return usageError{fleet.ErrNoImage}
			case on == "" && runtime.GOOS != "linux":
				return errNotLinux
			}
			err := onlyOnKubernetes(cmd, on, "namespace", "context", "kubeconfig")
			if err = errors.Join(err, f.Read()); err != nil {
				return usageError{err}
			}
			if on == onKubernetes {
				cluster.options.Namespace = cmp.Or(cluster.options.Namespace, fleet.Namespace)
				if f.Cluster, err = kube.Connect(cluster.options); err != nil {
					return err
				}
			}
			if err = f.Run(cmd.Context(), cmd.OutOrStdout()); errors.Is(err, inspect.ErrNone) || errors.Is(err, fleet.ErrNoPods) {
				err = usageError{err}
			}
			return err
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.Only.PID, "pid", 0, "inspect this process and its workers only")
	flags.StringVar(&f.Only.Container, "container", "", "inspect the processes of this container (its name, its pod, or the beginning of its id) or systemd service")
	spanVar(flags, &f.Watch, "for", "", 10*time.Second, "how long to watch the counters; 0: no watch, and no findings about throttling")
	flags.StringVar(&f.LevelName, "level", "warning", "exit with 99 if there is a finding of this level or above: info, warning, critical")
	flags.BoolVar(&f.JSON, "json", false, "print the processes and the findings for programs")
	flags.StringVar(&f.Patch, "patch", "", "write a patch for each workload or unit into this folder, and print a command for each")
	flags.StringVar(&f.Baseline, "baseline", "", "print what is new, worse and gone since an earlier run, whose --json this file has")
	flags.StringVar(&f.Suppress, "suppress", "", "leave out the findings that this file of suppressions names, each with a reason")
	flags.StringVar(&on, "on", "", "kubernetes: inspect all nodes of a cluster")
	flags.BoolVar(&manifest, "manifest", false, "print what --on kubernetes needs in the cluster, and end")
	flags.StringVar(&image, "image", "", "with --manifest: Millicore's image")
	cluster.add(c)
	flags.Lookup("namespace").Usage = "with --on kubernetes: namespace of the DaemonSet (default " + fleet.Namespace + ")"
	defineDetails(c, &f.Details)
	c.MarkFlagsMutuallyExclusive("pid", "container", "on", "manifest")
	c.MarkFlagsMutuallyExclusive("json", "patch")
	c.MarkFlagsMutuallyExclusive("baseline", "patch")
	return c
}

// errNotLinux is the error of commands that need a Linux kernel.
var errNotLinux = errors.New("this command reads /proc and control groups of Linux, which this system does not have; run it on the host or virtual machine where the containers run")
