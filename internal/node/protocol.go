// Package node sees containers from near: the node agent of a Kubernetes run
// reads the control groups of containers on its own node, whose files nobody
// else can read ([Serve]), and tells the conductor what it sees, which has the
// other end of the stream ([Client]). They speak NDJSON over any byte stream, and
// neither knows Kubernetes: what is to be watched comes as a container's id.
//
// How counters are read is internal/platform/meter's, how windows are rebuilt
// internal/signals'.
package node

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/signals"
)

// Command is one line to the node agent; exactly one field is set.
//
// A conversation: the conductor sends watch for a container; the agent sends its
// counters at once and then once an interval, and windows as soon as they end;
// or missing, with the reason, and looks again from time to time; until the
// conductor sends forget, or the stream ends. Once an interval the agent sends the
// node's own times, after the counters of all containers. Times are those of the
// node's clock.
type Command struct {
	Watch    *Watch `json:"watch,omitempty"`
	Forget   *ID    `json:"forget,omitempty"`
	Interval *Every `json:"interval,omitempty"`
}

// Watch has a container watched. One of an ID that is watched already replaces
// that.
type Watch struct {
	ID        int64  `json:"id"`        // the conductor's number for it, above 0
	Container string `json:"container"` // the runtime's id, without containerd:// before it
	Pod       string `json:"pod"`       // the pod's uid; "" where it is not known
	// Quota is the CPU time that the container may use in each Period, in
	// nanoseconds, 0 for no limit. What its control group says goes before it.
	Quota  int64 `json:"quota_ns"`
	Period int64 `json:"period_ns"`      // 0: the kernel's own 100 ms
	CPUs   int   `json:"cpus,omitempty"` // that it can run on at once; 0: all of the node
	// Plain is that its counters are enough: it is not looked at a hundred times a
	// second, and gives no windows.
	Plain bool `json:"plain,omitempty"`
}

// ID is the number of a container that was asked for by Watch.
type ID struct {
	ID int64 `json:"id"`
}

// Every is the time between two readings of the counters, in nanoseconds.
type Every struct {
	Nanoseconds int64 `json:"ns"`
}

// Interval is the time between two readings of counters where the conductor asks
// for no other.
const Interval = time.Second

// The bounds of what the conductor may ask for.
const (
	shortestInterval = 10 * time.Millisecond
	longestInterval  = time.Hour
)

// check reports what the agent cannot do.
func (c *Command) check() error {
	if n := set(c.Watch != nil, c.Forget != nil, c.Interval != nil); n != 1 {
		return fmt.Errorf("a command has exactly one of watch, forget, interval; this one has %d of them", n)
	}
	switch w := c.Watch; {
	case c.Interval != nil:
		every := time.Duration(c.Interval.Nanoseconds)
		if every < shortestInterval || every > longestInterval {
			return fmt.Errorf("interval of %v: want %v to %v", every, shortestInterval, longestInterval)
		}
	case w == nil:
	case w.ID <= 0:
		return fmt.Errorf("watch: id %d: want one above 0", w.ID)
	case w.Quota < 0 || w.Period < 0 || w.CPUs < 0:
		return fmt.Errorf("watch %d: a quota of %d ns, a period of %d ns, %d CPUs: none can be below 0", w.ID, w.Quota, w.Period, w.CPUs)
	}
	return nil
}

// Event is one line from the node agent; exactly one field is set.
type Event struct {
	Counters *Counters `json:"counters,omitempty"`
	Windows  *Windows  `json:"windows,omitempty"`
	Host     *Host     `json:"host,omitempty"`
	Missing  *Missing  `json:"missing,omitempty"`
	Error    string    `json:"error,omitempty"` // the agent gives up; the last line
}

// Counters are the running totals of a container, as signals.Counters has them;
// what is not there was not measured.
type Counters struct {
	ID               int64    `json:"id"`
	At               int64    `json:"at_ns"` // unix nanoseconds
	CPU              *float64 `json:"cpu_s,omitempty"`
	Periods          *int64   `json:"periods,omitempty"`
	ThrottledPeriods *int64   `json:"throttled_periods,omitempty"`
	Throttled        *float64 `json:"throttled_s,omitempty"`
	Bursts           *int64   `json:"bursts,omitempty"`
	OOMKills         *int64   `json:"oom_kills,omitempty"`
	CPUPressure      *float64 `json:"cpu_pressure_s,omitempty"`
	CPULimit         *float64 `json:"cpu_limit,omitempty"` // CPUs; none: no limit
	Memory           *int64   `json:"memory_bytes,omitempty"`
	MemoryPeak       *int64   `json:"memory_peak_bytes,omitempty"`
	MemoryLimit      *int64   `json:"memory_limit,omitempty"` // bytes; none: no limit
}

func countersOf(id int64, c signals.Counters) *Counters {
	return &Counters{
		ID: id, At: c.At.UnixNano(),
		CPU: c.CPU, Periods: c.Periods, ThrottledPeriods: c.ThrottledPeriods, Throttled: c.Throttled,
		Bursts: c.Bursts, OOMKills: c.OOMKills, CPUPressure: c.CPUPressure,
		CPULimit: c.CPULimit, Memory: c.Memory, MemoryPeak: c.MemoryPeak, MemoryLimit: c.MemoryLimit,
	}
}

// signals are the counters by the conductor's clock, of which the node's is ahead
// by offset.
func (c *Counters) signals(offset time.Duration) signals.Counters {
	return signals.Counters{
		At:  time.Unix(0, c.At).Add(-offset),
		CPU: c.CPU, Periods: c.Periods, ThrottledPeriods: c.ThrottledPeriods, Throttled: c.Throttled,
		Bursts: c.Bursts, OOMKills: c.OOMKills, CPUPressure: c.CPUPressure,
		CPULimit: c.CPULimit, Memory: c.Memory, MemoryPeak: c.MemoryPeak, MemoryLimit: c.MemoryLimit,
	}
}

// Windows are windows of a container that have ended, in the order of their ends.
type Windows struct {
	ID      int64    `json:"id"`
	Windows []Window `json:"windows"`
}

// Window is a signals.Window without what the agent does not know.
type Window struct {
	Kind      signals.WindowKind `json:"kind"`
	Start     int64              `json:"start"` // unix nanoseconds
	End       int64              `json:"end"`
	Throttled int64              `json:"throttled_ns,omitempty"`
	CPUs      int                `json:"cpus,omitempty"`
}

// Host is the node's CPU time since boot, in CPU seconds over all CPUs.
type Host struct {
	At    int64   `json:"at_ns"` // unix nanoseconds
	CPUs  int     `json:"cpus"`
	Idle  float64 `json:"idle_s"`  // idle and waiting for a disk
	Steal float64 `json:"steal_s"` // taken by the hypervisor
}

func hostOf(t meter.HostTimes) *Host {
	return &Host{At: t.At.UnixNano(), CPUs: t.CPUs, Idle: t.Idle, Steal: t.Steal}
}

// Missing says why nothing can be read of a container now. It is no error: the
// container may have ended, or be about to begin.
type Missing struct {
	ID  int64  `json:"id"`
	Why string `json:"why"`
}

// check reports what no agent says.
func (e *Event) check() error {
	n := set(e.Counters != nil, e.Windows != nil, e.Host != nil, e.Missing != nil, e.Error != "")
	if n != 1 {
		return fmt.Errorf("an event has exactly one of counters, windows, host, missing, error; this one has %d of them", n)
	}
	if e.Windows == nil {
		return nil
	}
	for _, w := range e.Windows.Windows {
		if w.End < w.Start {
			return fmt.Errorf("windows of %d: one that ends %v before it starts", e.Windows.ID, time.Duration(w.Start-w.End))
		}
	}
	return nil
}

func set(fields ...bool) (n int) {
	for _, is := range fields {
		if is {
			n++
		}
	}
	return n
}

// longestLine bounds what one line may take of memory. The longest are windows:
// about 100 bytes each, of which a container that was not looked at for a minute
// has 600.
const longestLine = 1 << 20

// line is a Command or an Event.
type line[T any] interface {
	*T
	check() error
}

// receive hands on what comes, line by line, until the stream ends, which is no
// error, or take gives one.
func receive[T any, L line[T]](from io.Reader, take func(L) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		one := L(new(T))
		err := json.Unmarshal(lines.Bytes(), one)
		if err == nil {
			err = one.check()
		}
		if err != nil {
			return fmt.Errorf("%w: %w: %s", errNotUnderstood, err, beginning(lines.Bytes()))
		}
		if err := take(one); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%w: a line of more than %d bytes", errNotUnderstood, longestLine)
	}
	return lines.Err()
}

// errNotUnderstood says that the other side speaks another protocol, perhaps that
// of another version.
var errNotUnderstood = errors.New("what came over the stream was not understood; use the same version of Millicore on both sides")

// beginning is what a message shows of a line.
func beginning(line []byte) string {
	const shown = 120
	if len(line) <= shown {
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("%q…", line[:shown])
}
