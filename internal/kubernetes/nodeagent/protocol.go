// Package nodeagent reads the control groups of containers on a Kubernetes node. The
// node agent ([Serve]) reads their files, which only a process on the node can read,
// and sends the samples to the conductor ([Client]). The protocol is NDJSON over any
// byte stream. Neither side uses Kubernetes: containers are identified by their ids.
//
// internal/platform/meter reads the counters, and internal/data/signals rebuilds the
// windows.
package nodeagent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform/meter"
)

// Command is one line to the node agent; exactly one field is set.
//
// The conductor sends watch for a container. The agent sends its counters
// immediately and then once per interval, and windows as soon as they end; or
// missing with the reason, and searches again from time to time. This ends with
// forget or with the stream. Once per interval the agent sends the node's own times,
// after the counters of all containers. Times are on the node's clock.
type Command struct {
	Watch    *Watch `json:"watch,omitempty"`
	Forget   *ID    `json:"forget,omitempty"`
	Interval *Every `json:"interval,omitempty"`
}

// Watch watches a container. It replaces an earlier Watch with the same ID.
type Watch struct {
	ID        int64  `json:"id"`        // the conductor's number for it, above 0
	Container string `json:"container"` // the runtime's id, without containerd:// before it
	Pod       string `json:"pod"`       // the pod's uid; "" where it is not known
	// Quota is the CPU time that the container may use in each Period, in nanoseconds;
	// 0 is no limit. The limit of its control group has priority.
	Quota  int64 `json:"quota_ns"`
	Period int64 `json:"period_ns"`      // 0: the kernel's own 100 ms
	CPUs   int   `json:"cpus,omitempty"` // that it can run on at once; 0: all of the node
	// Plain requests counters only: no samples 100 times a second, and no windows.
	Plain bool `json:"plain,omitempty"`
}

// ID is the number of a container from its Watch.
type ID struct {
	ID int64 `json:"id"`
}

// Every is the time between two readings of the counters, in nanoseconds.
type Every struct {
	Nanoseconds int64 `json:"ns"`
}

// Interval is the default time between two readings of counters.
const Interval = time.Second

// The bounds of the interval.
const (
	shortestInterval = 10 * time.Millisecond
	longestInterval  = time.Hour
)

// check reports an invalid command.
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
	Error    string    `json:"error,omitempty"` // the agent ends; the last line
}

// Counters are the running totals of a container, as in signals.Counters. Absent
// fields were not measured.
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
	Own              *Own     `json:"own,omitempty"`          // absent if they could not be read
}

// Own is what a container's group sets itself, regardless of its ancestors. The conductor
// verifies it.
type Own struct {
	Quota  int64 `json:"quota_ns,omitempty"` // 0: no limit
	Period int64 `json:"period_ns,omitempty"`
	Memory int64 `json:"memory_bytes,omitempty"` // 0: no limit
	CPUs   int   `json:"cpus,omitempty"`         // on which it may run; 0: not known
	Empty  bool  `json:"empty,omitempty"`        // no process is in the group
}

func countersOf(id int64, c signals.Counters) *Counters {
	return &Counters{
		ID: id, At: c.At.UnixNano(),
		CPU: c.CPU, Periods: c.Periods, ThrottledPeriods: c.ThrottledPeriods, Throttled: c.Throttled,
		Bursts: c.Bursts, OOMKills: c.OOMKills, CPUPressure: c.CPUPressure,
		CPULimit: c.CPULimit, Memory: c.Memory, MemoryPeak: c.MemoryPeak, MemoryLimit: c.MemoryLimit,
	}
}

// signals converts the counters to the conductor's clock. offset is the node's clock
// minus the conductor's.
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

// Window is a signals.Window without the fields that the agent does not know.
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

	IRQ     float64 `json:"irq_s"`
	SoftIRQ float64 `json:"softirq_s"`
}

func hostOf(t meter.HostTimes) *Host {
	return &Host{At: t.At.UnixNano(), CPUs: t.CPUs, Idle: t.Idle, Steal: t.Steal, IRQ: t.IRQ, SoftIRQ: t.SoftIRQ}
}

// Missing is the reason why a container cannot be read now. It is not an error: the
// container may have ended, or may be starting.
type Missing struct {
	ID  int64  `json:"id"`
	Why string `json:"why"`
}

// check reports an invalid event.
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

// longestLine bounds the memory of one line. Windows make the longest lines: about
// 100 bytes each, and 600 of them after a minute.
const longestLine = 1 << 20

// line is a Command or an Event.
type line[T any] interface {
	*T
	check() error
}

// receive calls take for each line until the stream ends, which is not an error, or
// take returns an error.
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

// errNotUnderstood reports that the other side uses another protocol, perhaps that of
// another version.
var errNotUnderstood = errors.New("the data on the stream is not in this protocol; use the same version of Millicore on both sides")

// beginning is the part of a line for a message.
func beginning(line []byte) string {
	const shown = 120
	if len(line) <= shown {
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("%q…", line[:shown])
}
