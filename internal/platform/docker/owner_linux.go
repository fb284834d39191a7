package docker

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Labels of all that a run makes. They prove whose it is: a pid alone is given
// to another process in time.
const (
	labelRun     = "millicore.run"
	labelPID     = "millicore.pid"
	labelStarted = "millicore.started"       // of the process, in clock ticks after the boot
	labelBoot    = "millicore.boot"          // the kernel's id of it
	labelPIDs    = "millicore.pid-namespace" // in which the pid means anything
)

// owner is the process that makes a run.
type owner struct {
	run     string
	pid     int
	started string
	boot    string
	pids    string
}

func newOwner() owner {
	o := owner{pid: os.Getpid(), boot: bootID(), pids: pidNamespace()}
	_, o.started, _ = processStat(o.pid)
	o.run = strconv.Itoa(o.pid) + "-" + strconv.FormatInt(time.Now().UnixMicro(), 36)
	return o
}

func (o owner) labels() map[string]string {
	return map[string]string{labelRun: o.run, labelPID: strconv.Itoa(o.pid), labelStarted: o.started, labelBoot: o.boot, labelPIDs: o.pids}
}

// ownerOf reads an owner from labels; ok is false of what no run made.
func ownerOf(labels map[string]string) (o owner, ok bool) {
	pid, err := strconv.Atoi(labels[labelPID])
	o = owner{run: labels[labelRun], pid: pid, started: labels[labelStarted], boot: labels[labelBoot], pids: labels[labelPIDs]}
	return o, err == nil && o.run != "" && o.boot != ""
}

// alive reports whether the owner may still be at work. Of one in another pid
// namespace that cannot be told from here.
func (o owner) alive() bool {
	if o.boot != bootID() {
		return false
	}
	if o.pids != pidNamespace() {
		return true
	}
	state, started, err := processStat(o.pid)
	return err == nil && started == o.started && state != "Z" && state != "X"
}

func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

func pidNamespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

func processStat(pid int) (state, started string, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", "", err
	}
	return parseStat(text)
}

// parseStat reads the state and the start time, fields 3 and 22, behind the name
// of the program, which may hold anything. man 5 proc_pid_stat.
//
//	17 (name) S 1 17 17 0 -1 4194560 … 523421 …
func parseStat(text []byte) (state, started string, err error) {
	behind := bytes.LastIndexByte(text, ')')
	fields := strings.Fields(string(text[behind+1:]))
	if behind < 0 || len(fields) < 20 {
		return "", "", fmt.Errorf("read /proc/PID/stat: %q", text)
	}
	return fields[0], fields[19], nil
}
