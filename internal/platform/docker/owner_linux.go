package docker

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/host/proc"
)

// Labels of the objects of a run. They identify its process: a pid alone may be reused.
const (
	labelRun     = "millicore.run"
	labelPID     = "millicore.pid"
	labelStarted = "millicore.started"       // start of the process, in clock ticks after the boot
	labelBoot    = "millicore.boot"          // the kernel's id of the boot
	labelPIDs    = "millicore.pid-namespace" // in which the pid is valid
)

// owner is the process of a run.
type owner struct {
	run     string
	pid     int
	started string
	boot    string
	pids    string
}

func newOwner() owner {
	o := owner{pid: os.Getpid(), boot: proc.BootID(), pids: pidNamespace()}
	if stat, err := proc.ReadStat(o.pid); err == nil {
		o.started = started(stat)
	}
	o.run = strconv.Itoa(o.pid) + "-" + strconv.FormatInt(time.Now().UnixMicro(), 36)
	return o
}

func (o owner) labels() map[string]string {
	return map[string]string{labelRun: o.run, labelPID: strconv.Itoa(o.pid), labelStarted: o.started, labelBoot: o.boot, labelPIDs: o.pids}
}

// containers is how the names of the run's containers begin.
func (o owner) containers() string { return "millicore-" + o.run + "-" }

// namedContainer reports whether a name, as the daemon lists it, is one of the run's
// containers.
func (o owner) namedContainer(listed string) bool {
	return strings.HasPrefix(strings.TrimPrefix(listed, "/"), o.containers())
}

// network is the name of the run's network.
func (o owner) network() string { return "millicore-" + o.run }

// volume is the name of a volume of the run.
func (o owner) volume(name string) string { return o.containers() + name }

// image is the name of the image of the sample service go, which is made for the run.
func (o owner) image() string { return goProgram + ":" + o.run }

// ownerOf reads an owner from labels; ok is false for objects of no run.
func ownerOf(labels map[string]string) (o owner, ok bool) {
	pid, err := strconv.Atoi(labels[labelPID])
	o = owner{run: labels[labelRun], pid: pid, started: labels[labelStarted], boot: labels[labelBoot], pids: labels[labelPIDs]}
	return o, err == nil && o.run != "" && o.boot != ""
}

// alive reports whether the owner may still run. An owner in another pid namespace
// cannot be checked, and may.
func (o owner) alive() bool {
	if o.boot != proc.BootID() {
		return false
	}
	if o.pids != pidNamespace() {
		return true
	}
	stat, err := proc.ReadStat(o.pid)
	return err == nil && started(stat) == o.started && stat.State != 'Z' && stat.State != 'X'
}

// started is the label of a process's start.
func started(stat proc.Stat) string { return strconv.FormatUint(stat.Started, 10) }

func pidNamespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}
