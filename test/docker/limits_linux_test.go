package docker

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/test/testkit"
)

// moveOut moves a process into the highest groups.
func moveOut(t *testing.T, pid int) {
	t.Helper()
	at, err := cgroup.Host().Process(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory} {
		if p, ok := at.Place(c).Get(); ok {
			if err := os.WriteFile(filepath.Join(p.Top, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The trial during which a limit changes, or a process leaves, ends and is invalid; the
// run and its report end with code 1.
func TestATrialWhoseLimitDidNotHoldIsInvalid(t *testing.T) {
	bench.Need(t)
	api, err := bench.Daemon().Client()
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	for name, c := range map[string]struct {
		do   func(t *testing.T, id string, pid int)
		want string
	}{
		"docker update": {func(t *testing.T, id string, _ int) {
			to := container.Resources{CPUPeriod: 100_000, CPUQuota: 200_000}
			if _, err := api.ContainerUpdate(t.Context(), id, client.ContainerUpdateOptions{Resources: &to}); err != nil {
				t.Fatal(err)
			}
		}, "a limit of server did not hold: its CPU limit was changed from 500m CPU in periods of 100ms to 2000m CPU in periods of 100ms"},
		"its process leaves": {func(t *testing.T, _ string, pid int) { moveOut(t, pid) }, "(server) left its control group: it is in /"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "record")
			run := exec.Command(filepath.Join(bench.Programs(), "millicore"), "run", "--on", "docker", "--out", dir, file(t, `
name: holds
services: {server: {image: "IMAGE", ready: /ok}}
limits: {cpu: 500m, memory: 64Mi}
load: {request: {path: /ok}, rate: 20}
measure: {warmup: 0s, duration: 60s, repeats: 1, interval: 200ms}
docker: {network: host}`))
			var output bytes.Buffer
			run.Stdout, run.Stderr = &output, &output
			testkit.Start(t, run)
			testkit.Until(t, "the trial measures", func() bool {
				frames, err := os.ReadFile(filepath.Join(dir, record.FramesFile))
				return err == nil && bytes.Contains(frames, []byte(`"server":{`))
			})
			running, err := api.ContainerList(t.Context(), client.ContainerListOptions{})
			if err != nil || len(running.Items) != 1 {
				t.Fatalf("containers %+v, %v", running, err)
			}
			seen, err := api.ContainerInspect(t.Context(), running.Items[0].ID, client.ContainerInspectOptions{})
			if err != nil {
				t.Fatal(err)
			}
			c.do(t, seen.Container.ID, seen.Container.State.Pid)
			var exit *exec.ExitError
			if err := run.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("%v, want exit code 1", err)
			}
			if trials := text(t, dir, record.TrialsFile); strings.Count(trials, `"outcome":"invalid"`) != 1 || !strings.Contains(trials, c.want) {
				t.Errorf("trials:\n%s", trials)
			}
			for what, out := range map[string]string{"run": output.String(), "report": refused(t, 1, "report", dir)} {
				if !strings.Contains(strings.Join(strings.Fields(out), " "), c.want) { // lines are wrapped
					t.Errorf("%s, without %q:\n%s", what, c.want, out)
				}
			}
			bench.NothingLeft(t)
		})
	}
}
