// Package logbudget bounds the logs of a run's services, which share the conductor's disk
// with the record. They have a budget together, so that services which write a line for
// each request cannot fill the disk and cost the record. Each log may use an equal share of
// it: its begin, and its last lines, which say why a container died. What is between is
// read, counted and left out.
package logbudget

import (
	"fmt"
	"sync"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/supervise"
)

const (
	// Total is how many bytes the logs of a run may have together.
	Total   = 256 << 20
	mostLog = 8 << 20  // of one replica in one trial
	mostEnd = 64 << 10 // of its last lines; they are kept in memory
)

// Budget is what the logs of a run may use. Several goroutines may use it
// concurrently.
type Budget struct {
	mu      sync.Mutex
	total   int64
	left    int64
	share   int64 // of one log
	dropped dropped
	logs    int // that something was left out of
}

// dropped is what was left out.
type dropped struct{ lines, bytes int64 }

func (d *dropped) add(text string) {
	d.lines++
	d.bytes += int64(len(text)) + 1
}

func (d dropped) String() string {
	return fmt.Sprintf("%s, %.1f MiB,", display.Counted(d.lines, "line"), float64(d.bytes)/(1<<20))
}

// New returns a budget of so many bytes.
func New(total int64) *Budget { return &Budget{total: total, left: total, share: min(mostLog, total)} }

// Plan divides the budget among the logs of an experiment. A third of its trials may be
// repeated.
func (b *Budget) Plan(e *experiment.Experiment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.share = min(mostLog, b.total/max(1, logsOf(e)*4/3))
}

// logsOf is the number of logs of a plan: one for each replica in each trial.
func logsOf(e *experiment.Experiment) int64 {
	repeats := e.Measure.Repeats
	if common := e.CommonLoad(); common != nil {
		repeats += common.Repeats
	}
	var logs int64
	for i := range e.Cells {
		c := &e.Cells[i]
		replicas := max(c.Limits.Replicas, 1)
		if c.Service.Autoscale != nil {
			replicas = c.Service.Autoscale.Max
		}
		logs += int64(replicas+len(c.Service.Dependencies)) * int64(max(repeats, 1))
	}
	return logs
}

// Open returns a log with its share of the budget.
func (b *Budget) Open(log *supervise.Log) *Log {
	b.mu.Lock()
	defer b.mu.Unlock()
	may := min(b.share, b.left)
	b.left -= may
	l := &Log{budget: b, log: log, may: may}
	l.atEnd = min(mostEnd, may/4)
	return l
}

// Total describes what was left out of all logs; "" if that is nothing.
func (b *Budget) Total() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.logs == 0 {
		return ""
	}
	return fmt.Sprintf("logs of services: %s left out of %d of them; together they may have %d MiB, and each states where something is missing", b.dropped, b.logs, b.total>>20)
}

// Log is the log of a replica in a trial. Only one goroutine at a time may use it.
type Log struct {
	budget *Budget
	log    *supervise.Log
	may    int64 // bytes that it may still use
	atEnd  int64 // of them for its last lines

	last    []string // lines that are not written yet, and may be left out
	held    int64    // their bytes
	between dropped  // before them, since the last line that was written
	all     dropped
}

// Line takes a line. It ignores errors: a full disk is no reason to stop a trial.
func (l *Log) Line(text string) {
	size := int64(len(text)) + 1
	if len(l.last) == 0 && l.between.lines == 0 && size <= l.may-l.atEnd {
		l.may -= size
		_, _ = l.log.File.WriteString(text + "\n")
		return
	}
	l.last = append(l.last, text)
	l.held += size
	for l.held > min(l.atEnd, l.may) {
		l.between.add(l.last[0])
		l.held -= int64(len(l.last[0])) + 1
		l.last = l.last[1:]
	}
}

// Flush writes the last lines, when a container has ended or the log does.
func (l *Log) Flush() {
	if l.between.lines > 0 {
		l.log.Note("%s left out here: this log has more than its share of the logs of the run", l.between)
	}
	for _, text := range l.last {
		_, _ = l.log.File.WriteString(text + "\n")
	}
	l.may -= l.held
	l.all.lines, l.all.bytes = l.all.lines+l.between.lines, l.all.bytes+l.between.bytes
	l.last, l.held, l.between = nil, 0, dropped{}
}

// Close writes what is held, and returns what is not used to the budget.
func (l *Log) Close() {
	l.Flush()
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	l.budget.left += l.may
	l.may, l.atEnd = 0, 0
	if l.all.lines > 0 {
		l.budget.logs++
		l.budget.dropped.lines += l.all.lines
		l.budget.dropped.bytes += l.all.bytes
		l.all = dropped{}
	}
}
