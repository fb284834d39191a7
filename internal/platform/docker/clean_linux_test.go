package docker

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/millicore/millicore/test/testkit"
)

// aRun starts a process that is a run with two containers, an image and a
// network, and returns when they are there.
func aRun(t *testing.T, state string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asRun+"="+t.TempDir(), "MILLICORE_TEST_STATE="+state, "MILLICORE_TEST_PROGRAMS="+bench.Programs())
	if line := testkit.StartReady(t, c, "started"); line != "started <nil>" {
		t.Fatal(line)
	}
	return c
}

func TestCleanRemovesWhatAKilledRunLeftAndLeavesLivingOnesAlone(t *testing.T) {
	bench.Need(t)
	o := Options{Programs: bench.Programs(), State: t.TempDir()}
	killed, living := aRun(t, o.State), aRun(t, o.State)
	testkit.Kill(killed)
	cleaned, err := Clean(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, what := range cleaned.Removed {
		kind, _, _ := strings.Cut(what, " ")
		kinds[kind]++
	}
	if kinds["container"] != 2 || kinds["network"] != 1 || kinds["image"] != 1 {
		t.Errorf("removed %q", cleaned.Removed)
	}
	if !slices.Equal(cleaned.Living, []int{living.Process.Pid}) {
		t.Errorf("living %v, want %d", cleaned.Living, living.Process.Pid)
	}
	left, err := bench.Daemon().Left(image)
	if err != nil || len(left) < 4 {
		t.Errorf("of the living run there is %q, %v", left, err)
	}
	living.Process.Kill() // not awaited yet: a zombie is dead
	testkit.Until(t, "clean", func() bool {
		if _, err := Clean(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		left, err := bench.Daemon().Left(image)
		return err == nil && len(left) == 0
	})
	if _, err := Clean(t.Context(), o); err != nil { // of its control groups, once it has let go of them
		t.Error(err)
	}
}

func TestCleanLeavesAloneWhatNoRunMade(t *testing.T) {
	bench.Need(t)
	api, err := bench.Daemon().Client()
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	made, err := api.NetworkCreate(t.Context(), "somebodys", client.NetworkCreateOptions{Driver: "bridge", Labels: map[string]string{labelRun: "1-abc"}})
	if err != nil {
		t.Skip("no bridge networks here: ", err)
	}
	defer api.NetworkRemove(context.Background(), made.ID, client.NetworkRemoveOptions{})
	cleaned, err := Clean(t.Context(), Options{State: t.TempDir()})
	if err != nil || len(cleaned.Removed) != 0 {
		t.Errorf("removed %q, %v", cleaned.Removed, err)
	}
}

func TestDaemonsThatDoNotAnswer(t *testing.T) {
	bench.Need(t)
	for host, want := range map[string]string{
		"unix:///tmp/millicore-no-daemon.sock": "no Docker daemon answers at unix:///tmp/millicore-no-daemon.sock; start it",
		"tcp://192.0.2.1:2375":                 "is on another machine",
		"tcp://me:hunter2@192.0.2.1:2375":      "DOCKER_HOST=tcp://me:(redacted)@192.0.2.1:2375 is on another machine",
		"nonsense":                             "DOCKER_HOST",
	} {
		t.Setenv("DOCKER_HOST", host)
		_, err := New(Options{Programs: bench.Programs(), State: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant in it: %s", host, err, want)
		}
	}
}

func TestWhatIsMadeAsItsMakingIsBrokenOffIsRemoved(t *testing.T) {
	p := open(t, Options{HostNetwork: true}) // which looks afterwards whether something is left
	for wait := time.Duration(0); wait < 100*time.Millisecond; wait += 5 * time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		if running, err := p.Start(ctx, server(t)); err == nil {
			if err := running.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}
		cancel()
	}
}

// Labels are inherited: docker commit gives an image those of its container, and an image
// gives them to its containers.
func TestCleanLeavesAloneWhatInheritedTheLabelsOfARun(t *testing.T) {
	bench.Need(t)
	api, err := bench.Daemon().Client()
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	o := Options{Programs: bench.Programs(), State: t.TempDir()}
	killed := aRun(t, o.State)
	list, err := api.ContainerList(t.Context(), client.ContainerListOptions{Filters: client.Filters{}.Add("label", labelPID+"="+strconv.Itoa(killed.Process.Pid))})
	if err != nil || len(list.Items) == 0 {
		t.Fatal(list, err)
	}
	const snapshot, tag, container = "somebodys:snapshot", "somebodys:service", "somebodys-container"
	_, err = api.ContainerCommit(t.Context(), list.Items[0].ID, client.ContainerCommitOptions{Reference: snapshot})
	if err == nil {
		_, err = api.ImageTag(t.Context(), client.ImageTagOptions{Source: goProgram + ":" + list.Items[0].Labels[labelRun], Target: tag})
	}
	if err == nil {
		_, err = api.ContainerCreate(t.Context(), client.ContainerCreateOptions{Name: container, Image: snapshot})
	}
	if err != nil {
		t.Fatal(err)
	}
	testkit.Kill(killed)
	cleaned, err := Clean(t.Context(), o)
	if err != nil {
		t.Error(err)
	}
	if len(cleaned.Removed) < 4 || strings.Contains(strings.Join(cleaned.Removed, " "), "somebodys") {
		t.Errorf("removed %q", cleaned.Removed)
	}
	if _, err := api.ContainerRemove(t.Context(), container, client.ContainerRemoveOptions{}); err != nil {
		t.Error(err)
	}
	for _, image := range []string{snapshot, tag} {
		if _, err := api.ImageRemove(t.Context(), image, client.ImageRemoveOptions{}); err != nil {
			t.Error(err)
		}
	}
	bench.NothingLeft(t)
}
