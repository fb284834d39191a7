// Package conductor is the lab at work in a cluster: the pod that conducts a
// run. It serves the agents that dial in, and the command line that asks how the
// run stands and fetches the record; it conducts the experiment with the ordinary
// lab, and keeps the record for a while. It knows no Kubernetes: the platform is
// given to it.
package conductor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/millicore/millicore/internal/exit"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/record"
)

// Options are what Conduct needs.
type Options struct {
	Dir     string // with what the pod was given: RunFile and the others
	Record  string // folder for the record; a run that was begun there goes on
	Listen  string // address for agents and the command line
	Version string // of this program

	// Platform opens where the services run.
	Platform func(context.Context, Needs) (platform.Platform, error)
	// Remove removes the run from where it runs, this pod included.
	Remove func(context.Context, Run) error
	// Stopped returns when the run's user has ended it, or with ctx; nil: nobody can.
	// The trial under way is then ended, and the record kept as after any other run.
	Stopped func(context.Context, Run)
	// Missed writes what is derived from the record, and tells whether the
	// objective was missed.
	Missed func(dir string) (bool, error)

	Progress func(lab.Progress) // may be nil
	Log      io.Writer          // notes for people
}

// Needs is what a platform is opened with.
type Needs struct {
	Run        Run
	Experiment *experiment.Experiment
	Hub        *Hub // where its agents dial in
	Note       func(string)
}

// garbage is how much may gather before it is collected, in percent of what is in
// use: each frame of an agent has three histograms of 140 kB, which are of no use
// once they are in the record. Collecting it seldom takes a quarter off what a
// thousand agents cost.
const garbage = 400

// ErrInterrupted ends a run that was told to end before it was done. Where its
// record is kept, another conductor can go on with it.
var ErrInterrupted = errors.New("interrupted; the record holds what was measured until then")

// InterruptedError is an ErrInterrupted in other words.
type InterruptedError string

func (i InterruptedError) Error() string        { return string(i) }
func (i InterruptedError) Is(target error) bool { return target == ErrInterrupted }

// Conduct does the whole work of a conductor's pod: it reads what is asked,
// conducts it, keeps the record for as long as is asked, and removes the run. The
// error is nil also where the experiment failed: the state tells of that, and
// another pod would not do better. It is ErrInterrupted where ctx ended before
// the run had.
func Conduct(ctx context.Context, o Options) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	run, err := ReadRun(filepath.Join(o.Dir, RunFile))
	if err != nil {
		return err
	}
	c := &conductor{options: o, run: run}
	c.board.change(func(s *State) { s.Run, s.State = run.Run, Starting })
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("listen for the agents: %w", err)
	}
	c.hub, err = NewHub(listener, HubOptions{CertFile: filepath.Join(o.Dir, CertFile), KeyFile: filepath.Join(o.Dir, KeyFile),
		TokenFile: filepath.Join(o.Dir, TokenFile), Record: o.Record, State: c.board.read})
	if err != nil {
		return err
	}
	defer c.hub.Close()
	if !c.ended() {
		working, stop := c.working(ctx)
		c.end(ctx, c.conduct(working), context.Cause(working) == errStopped)
		stop()
	}
	state := c.board.read()
	if state.State == Interrupted { // the agents are for whoever goes on with it
		return ErrInterrupted
	}
	c.hub.Over()
	return c.keep(ctx, state)
}

type conductor struct {
	options Options
	run     Run
	hub     *Hub
	board   board
}

var errStopped = errors.New("stopped by its user")

// working ends when ctx does, or when the run's user ends the run.
func (c *conductor) working(ctx context.Context) (working context.Context, stop func()) {
	working, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { cancel(lab.Stopped("the conductor's pod was told to end")) })
	if c.options.Stopped != nil {
		go func() {
			c.options.Stopped(working, c.run)
			cancel(errStopped) // which is nothing where working has ended
		}()
	}
	return working, func() { cancel(nil) }
}

// wrong is a mistake in what was asked.
type wrong struct{ error }

func (w wrong) Unwrap() error { return w.error }

// conduct conducts the experiment into the record. Where it returns nil the plan
// was worked through, or ctx has ended.
func (c *conductor) conduct(ctx context.Context) error {
	e, err := c.experiment()
	if err != nil {
		return wrong{err}
	}
	where, err := c.options.Platform(ctx, Needs{Run: c.run, Experiment: e, Hub: c.hub, Note: c.note})
	if err != nil {
		return err
	}
	defer func() {
		if err := where.Close(); err != nil {
			c.note(fmt.Sprintf("remove what the run made: %v", err))
		}
	}()
	if err := errors.Join(lab.Check(e), where.Check(e)); err != nil {
		return wrong{err}
	}
	c.board.change(func(s *State) { s.State = Running })
	l := &lab.Lab{Experiment: e, Platform: where, Seed: c.run.Seed, Dir: c.options.Record, Version: c.options.Version,
		Progress: c.progress, Log: c, Blind: true, Resume: true}
	return l.Run(ctx)
}

// experiment reads what is to be conducted.
func (c *conductor) experiment() (*experiment.Experiment, error) {
	text, err := os.ReadFile(filepath.Join(c.options.Dir, ExperimentFile))
	if err != nil {
		return nil, fmt.Errorf("read the experiment: %w", err)
	}
	e, err := experiment.Parse(c.run.File, text, c.run.Sets)
	if err != nil {
		return nil, err
	}
	sealed, err := readSealed(filepath.Join(c.options.Dir, SuppliesFile))
	if err != nil {
		return nil, err
	}
	return e, e.Unseal(sealed)
}

// readSealed reads the supplies; without the file there are none.
func readSealed(path string) (experiment.Sealed, error) {
	var s experiment.Sealed
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read the experiment's supplies: %w", err)
	}
	return s, nil
}

// progress tells how the run stands to those who ask, and to the log.
func (c *conductor) progress(p lab.Progress) {
	c.board.change(func(s *State) {
		s.Planned, s.Done = p.Of, p.Trial-1
		if p.Stage.Ended() {
			s.Done = p.Trial
		}
	})
	if c.options.Progress != nil {
		c.options.Progress(p)
	}
}

// note tells people of something, in the log and in the state.
func (c *conductor) note(text string) { _, _ = c.Write([]byte(text + "\n")) }

// Write makes the conductor the lab's log.
func (c *conductor) Write(text []byte) (int, error) {
	if c.options.Log == nil {
		return len(text), nil
	}
	return c.options.Log.Write(text)
}

// end settles what became of the run, and keeps that beside the record. stopped
// is that the run's user ended it.
func (c *conductor) end(ctx context.Context, err error, stopped bool) {
	finished := false
	if r, openErr := record.Open(c.options.Record); openErr == nil {
		finished = r.Finished
	}
	if err != nil {
		c.log("millicore: %v", err)
	}
	switch {
	case ctx.Err() != nil && !finished: // another conductor may go on
		c.board.change(func(s *State) { s.State = Interrupted })
		return
	case stopped && !finished:
		c.settle(func(s *State) { s.State, s.Exit = Stopped, exit.Interrupted })
		return
	case err != nil:
		c.settle(func(s *State) {
			s.State, s.Exit, s.Error = Failed, exit.Failed, err.Error()
			if errors.As(err, new(wrong)) {
				s.Exit = exit.Usage
			}
		})
		return
	}
	// Judging takes memory. A container that is killed for it has settled that the
	// run is done; whoever fetches the record judges it again.
	done := c.board.read()
	done.State, done.At = Done, time.Now()
	if err := c.save(done); err != nil {
		c.log("millicore: %v", err)
	}
	code := c.judge()
	c.settle(func(s *State) { s.State, s.Exit = Done, code })
}

// settle changes the state to its last, and keeps it.
func (c *conductor) settle(f func(*State)) {
	c.board.change(f)
	if err := c.save(c.board.read()); err != nil {
		c.log("millicore: %v", err)
	}
}

func (c *conductor) judge() int {
	missed, err := c.options.Missed(c.options.Record)
	if err != nil {
		c.note(fmt.Sprintf("millicore: whether the objective was met is not known here: %v", err))
	}
	if missed {
		return exit.Missed
	}
	return exit.OK
}

func (c *conductor) log(format string, args ...any) {
	if c.options.Log != nil {
		fmt.Fprintf(c.options.Log, format+"\n", args...)
	}
}

// stateFile is beside the record, for a conductor whose container is started
// again when the run has ended.
func (c *conductor) stateFile() string {
	return filepath.Join(filepath.Dir(filepath.Clean(c.options.Record)), "state.json")
}

func (c *conductor) save(s State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return record.WriteFile(c.stateFile(), append(text, '\n'))
}

// ended takes up the state of a run that had ended before this container was
// started. A file that cannot be read is none: the record tells what is done.
func (c *conductor) ended() bool {
	var s State
	text, err := os.ReadFile(c.stateFile())
	if err != nil || json.Unmarshal(text, &s) != nil || s.Run != c.run.Run || !s.State.Ended() {
		return false
	}
	c.board.set(s)
	return true
}

// keep waits until the record has been kept for long enough, or ctx ends, and
// removes the run. A record in a volume of its own outlives this pod: the pod in
// its place then goes on to keep it, which is asked for by ErrInterrupted.
func (c *conductor) keep(ctx context.Context, s State) error {
	left := time.Until(s.At.Add(c.run.Keep()))
	if left > 0 {
		c.log("The run is %s. Its record is kept for %v.", s.State, left.Round(time.Second))
		select {
		case <-time.After(left):
		case <-ctx.Done():
			if c.run.Claimed {
				return ErrInterrupted
			}
		}
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	if err := c.options.Remove(within, c.run); err != nil {
		c.log("millicore: remove the run: %v", err)
	}
	return nil
}

// removeWithin bounds the removing: a pod that is told to end has 60 s.
const removeWithin = 20 * time.Second
