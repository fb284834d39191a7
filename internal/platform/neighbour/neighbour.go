// Package neighbour is the busy neighbour that runs beside a service on purpose: threads that
// compute without end, as many as the CPUs of its limit. It is this program, started again. Its
// control group, its limit and its weight are those of any dependency.
package neighbour

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
)

// word is the argument by which a program knows that it was started as a neighbour.
const word = "__neighbour"

// Unit is the neighbour of a trial. It listens on its port, by which it is known to run, and
// answers nothing. image is that of the service, in which it runs beside it; "": the service
// is a process of this machine, and so is the neighbour.
func Unit(d *experiment.Dependency, image string, trial int, logs string) (platform.UnitSpec, error) {
	self, err := os.Executable()
	u := platform.UnitSpec{Trial: trial, Name: d.Name, Command: []string{word, strconv.FormatInt(threads(d.Limits), 10), "${host}:${port}"},
		Limits: d.Limits, Ready: d.Ready, Logs: logs}
	if image == "" {
		u.Command, u.RunAs = slices.Insert(u.Command, 0, self), experiment.Caller
		return u, err
	}
	u.Command = append(u.Command, attended)
	u.Image, u.Volumes = image, []string{self + ":" + inside + ":ro"}
	u.Container = &platform.Container{Entrypoint: []string{inside}, NoHealth: true, Attended: true}
	return u, err
}

// attended is the argument of a neighbour that ends with its standard input. A container
// outlives a program that is killed, and would compute on.
const attended = "attended"

// inside is this program in a container.
const inside = "/millicore-neighbour"

// threads are so many that they can use the whole limit.
func threads(l experiment.Limits) int64 { return (l.CPUMillis + 999) / 1000 }

// Main must be called first in main, with os.Args. It never returns in a program that was
// started as a neighbour.
func Main(args []string) {
	if len(args) < 4 || args[1] != word {
		return
	}
	if args[len(args)-1] == attended {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	n, err := strconv.Atoi(args[2])
	if err == nil {
		_, err = net.Listen("tcp", args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "neighbour:", err)
		os.Exit(1)
	}
	runtime.GOMAXPROCS(n)
	for range n {
		go func() {
			for { //nolint:staticcheck // to use a CPU is what it is for
			}
		}()
	}
	select {}
}
