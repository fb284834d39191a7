package docker

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/millicore/millicore/test/testkit"
)

// A container outlives a program that is killed; one that computes without end must not.
func TestANeighbourEndsWithAKilledRun(t *testing.T) {
	bench.Need(t)
	api, err := bench.Daemon().Client()
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	computes := func() bool {
		list, err := api.ContainerList(t.Context(), client.ContainerListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list.Items, func(c container.Summary) bool { return strings.Contains(strings.Join(c.Names, " "), "-neighbour-") })
	}
	name := file(t, `
name: beside
services: {web: {image: IMAGE, dependencies: [{name: neighbour, limits: {cpu: 100m}}]}}
load: {request: {path: /}, rate: 5}
measure: {duration: 1m, repeats: 1}
`)
	c := exec.Command(filepath.Join(bench.Programs(), "millicore"), "run", name, "--on", "docker", "--out", filepath.Join(t.TempDir(), "record"))
	testkit.Start(t, c)
	testkit.Until(t, "the neighbour runs", computes)
	c.Process.Kill()
	c.Wait()
	testkit.Until(t, "the neighbour has ended", func() bool { return !computes() })
	if out, err := exec.Command(filepath.Join(bench.Programs(), "millicore"), "clean", "--on", "docker").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	bench.NothingLeft(t)
}
