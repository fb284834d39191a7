package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// launches are started by one thread, whose CPU they inherit. The thread never ends,
// because a process is killed when its parent's thread ends (Pdeathsig).
var launches = make(chan func(), 1)

func init() {
	go func() {
		runtime.LockOSThread()
		for launch := range launches {
			launch()
		}
	}()
}

// startOn starts a command on one CPU.
func startOn(cpu int, cmd *exec.Cmd) error {
	failed := make(chan error)
	launches <- func() {
		var set unix.CPUSet
		set.Set(cpu)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			failed <- fmt.Errorf("bind to CPU %d: %w", cpu, err)
			return
		}
		failed <- cmd.Start()
	}
	return <-failed
}

// gentle is how long a process has to end after the signal.
const gentle = 3 * time.Second

// command is a command that gets a signal to end when ctx ends, is killed if it does
// not end, and is killed with this process. A terminal's interrupt goes to this process
// only.
func command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = gentle
	return cmd
}

// process is a running generator.
type process struct {
	cmd    *exec.Cmd
	began  time.Time
	out    bytes.Buffer
	errors bytes.Buffer
	watch  *watch
}

// startProcess starts a generator on a CPU. Its output is gathered, unless pipes
// asks for both ends of a conversation.
func startProcess(ctx context.Context, cpu int, pipes bool, program string, args ...string) (p *process, in io.WriteCloser, out io.ReadCloser, err error) {
	p = &process{cmd: command(ctx, program, args...)}
	p.cmd.Stderr = &p.errors
	if pipes {
		if in, err = p.cmd.StdinPipe(); err != nil {
			return nil, nil, nil, err
		}
		if out, err = p.cmd.StdoutPipe(); err != nil {
			return nil, nil, nil, err
		}
	} else {
		p.cmd.Stdout = &p.out
	}
	p.began = time.Now()
	if err := startOn(cpu, p.cmd); err != nil {
		return nil, nil, nil, err
	}
	p.watch = startWatch(p.cmd.Process.Pid)
	return p, in, out, nil
}

// wait waits for the end.
func (p *process) wait() (used, error) {
	err := p.cmd.Wait()
	u := p.watch.stop()
	u.Took = time.Since(p.began)
	if state := p.cmd.ProcessState; state != nil {
		// By wait4: of the process and of the children that it awaited.
		u.CPU = state.UserTime() + state.SystemTime()
		// A process inherits ru_maxrss from the one that started it, and what it
		// shows is its own only where it is more than that.
		if most := state.SysUsage().(*syscall.Rusage).Maxrss << 10; most > ownPeak()*21/20 {
			u.Peak = max(u.Peak, most)
		}
	}
	if err != nil {
		words := strings.TrimSpace(p.errors.String())
		if words == "" {
			words = strings.TrimSpace(p.out.String())
		}
		err = fmt.Errorf("%w: %s", err, words[max(0, len(words)-300):])
	}
	return u, err
}

func ownPeak() int64 {
	data, _ := os.ReadFile("/proc/self/status")
	return parseKilobytes(string(data), "VmHWM")
}

// watch measures the memory of a process and its children while they run.
type watch struct {
	root  int
	end   chan struct{}
	done  sync.WaitGroup
	peaks map[int]int64
	sizes []int64 // of all, at each look
}

// lookEvery is how often: one look takes some 50 us.
const lookEvery = 50 * time.Millisecond

func startWatch(pid int) *watch {
	w := &watch{root: pid, end: make(chan struct{}), peaks: map[int]int64{}}
	w.done.Go(func() {
		for ticker := time.NewTicker(lookEvery); ; {
			w.look()
			select {
			case <-ticker.C:
			case <-w.end:
				ticker.Stop()
				return
			}
		}
	})
	return w
}

func (w *watch) look() {
	total := int64(0)
	for _, pid := range family(w.root) {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue // it has ended
		}
		// The last reading counts: before its exec a child has its parent's memory.
		if peak := parseKilobytes(string(data), "VmHWM"); peak > 0 {
			w.peaks[pid] = peak
		}
		total += parseKilobytes(string(data), "VmRSS")
	}
	if total > 0 {
		w.sizes = append(w.sizes, total)
	}
}

// settled is the time after which a generator has opened all its connections and sends
// requests.
const settled = time.Second

func (w *watch) stop() (u used) {
	close(w.end)
	w.done.Wait()
	for _, peak := range w.peaks {
		u.Peak += peak
	}
	if n := len(w.sizes); n > 0 {
		u.First = w.sizes[min(int(settled/lookEvery), n-1)]
		u.Middle = w.sizes[n/2]
		u.Last = w.sizes[max(0, n-1-int(settled/lookEvery))] // before it makes its report
	}
	return u
}

// family is a process and its descendants.
func family(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", all[i]))
		if err != nil {
			continue
		}
		for _, task := range tasks {
			data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", all[i], task.Name()))
			for _, field := range strings.Fields(string(data)) {
				if child, err := strconv.Atoi(field); err == nil {
					all = append(all, child)
				}
			}
		}
	}
	return all
}
