// Package conductor runs the lab in a cluster, in the conductor's pod. It serves the
// agents that connect, and the command line that reads the state of the run and
// fetches the record. It conducts the experiment with the ordinary lab and keeps
// the record for a limited time. It does not use Kubernetes: the caller opens the
// platform.
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

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/platform"
)

// Options are what Conduct needs.
type Options struct {
	Dir     string // has SpecFile and the other files of the pod
	Record  string // folder for the record; an unfinished run there is resumed
	Listen  string // address for agents and the command line
	Version string // of this program

	// Platform opens the platform of the services.
	Platform func(context.Context, PlatformOptions) (platform.Platform, error)
	// Remove removes the run from the cluster, including this pod.
	Remove func(context.Context, Spec) error
	// Stopped returns when the user has ended the run, or when ctx ends; nil: the user
	// cannot end it. The current trial is then ended, and the record is kept as usual.
	Stopped func(context.Context, Spec)
	// Readers are the hashes of the tokens of those who may read the state and the
	// record.
	Readers func(context.Context, Spec) ([]string, error)
	// Judge writes the files that are derived from the record. notMet is an exit.NotMet; nil:
	// the objective was met, or there was none.
	Judge func(dir string) (notMet, err error)

	Progress func(lab.Progress) // may be nil
	Log      io.Writer          // notes for people
}

// PlatformOptions are the choices of Options.Platform.
type PlatformOptions struct {
	Run        Spec
	Experiment *experiment.Experiment
	Hub        *Hub // to which its agents connect
	Note       func(string)
}

// garbage is the GC percentage: each frame of an agent has three histograms of
// 140 kB, which become garbage once they are in the record. Collecting less often
// reduces the CPU time for a thousand agents by a quarter.
const garbage = 400

// ErrInterrupted is the error of a run that was ended before its plan was done.
// Another conductor can resume it if its record is kept.
var ErrInterrupted = errors.New("interrupted; the record holds what was measured until then")

// InterruptedError is an ErrInterrupted with another text.
type InterruptedError string

func (i InterruptedError) Error() string        { return string(i) }
func (i InterruptedError) Is(target error) bool { return target == ErrInterrupted }

// Conduct does all the work of a conductor's pod: it reads the run's specification,
// conducts the experiment, keeps the record for the specified time, and removes the
// run. The error is nil also if the experiment failed: the state reports that, and
// another pod would fail too. It is ErrInterrupted if ctx ended before the run.
func Conduct(ctx context.Context, o Options) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	run, err := ReadSpec(filepath.Join(o.Dir, SpecFile))
	if err != nil {
		return err
	}
	c := &conductor{options: o, run: run, scrub: secret.Scrub(nil)}
	c.board.change(func(s *State) { s.Run, s.State = run.Run, Starting })
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("listen for the agents: %w", err)
	}
	c.hub, err = NewHub(listener, HubOptions{CertFile: filepath.Join(o.Dir, CertFile), KeyFile: filepath.Join(o.Dir, KeyFile),
		TokenKeyFile: filepath.Join(o.Dir, TokenKeyFile), Record: o.Record, State: c.board.read,
		Readers: func(ctx context.Context) ([]string, error) { return o.Readers(ctx, run) }})
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
	if state.State == Interrupted { // the agents are kept for the next conductor
		return ErrInterrupted
	}
	c.hub.Over()
	return c.keep(ctx, state)
}

type conductor struct {
	options Options
	run     Spec
	hub     *Hub
	board   board
	scrub   func(string) string // removes the experiment's secrets from a text
}

var errStopped = errors.New("stopped by its user")

// working ends when ctx does, or when the run's user ends the run.
func (c *conductor) working(ctx context.Context) (working context.Context, stop func()) {
	working, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { cancel(lab.Stopped("the conductor's pod was terminated")) })
	if c.options.Stopped != nil {
		go func() {
			c.options.Stopped(working, c.run)
			cancel(errStopped) // no effect if working has ended
		}()
	}
	return working, func() { cancel(nil) }
}

// usageError is a mistake in the run's specification or its experiment.
type usageError struct{ error }

func (w usageError) Unwrap() error { return w.error }

// conduct conducts the experiment into the record. nil means that the plan is done
// or that ctx has ended.
func (c *conductor) conduct(ctx context.Context) error {
	e, err := c.experiment()
	if err != nil {
		return usageError{err}
	}
	c.scrub = secret.Scrub(e.Secrets())
	where, err := c.options.Platform(ctx, PlatformOptions{Run: c.run, Experiment: e, Hub: c.hub, Note: c.note})
	if err != nil {
		return err
	}
	defer func() {
		if err := where.Close(); err != nil {
			c.note(fmt.Sprintf("remove what the run made: %v", err))
		}
	}()
	if err := errors.Join(lab.Check(e), where.Check(e)); err != nil {
		return usageError{err}
	}
	c.board.change(func(s *State) { s.State = Running })
	l := &lab.Lab{Experiment: e, Platform: where, Seed: c.run.Seed, Dir: c.options.Record, Version: c.options.Version,
		Progress: c.progress, Log: c, NoHost: true, Resume: true}
	return l.Run(ctx)
}

// experiment reads the experiment.
func (c *conductor) experiment() (*experiment.Experiment, error) {
	text, err := os.ReadFile(filepath.Join(c.options.Dir, ExperimentFile))
	if err != nil {
		return nil, fmt.Errorf("read the experiment: %w", err)
	}
	inputs, err := readInputs(filepath.Join(c.options.Dir, SuppliesFile))
	if err != nil {
		return nil, err
	}
	given := experiment.Given{Source: string(text), Sets: c.run.Sets}
	if inputs.Given != nil { // the ConfigMap has no secrets
		given = *inputs.Given
	}
	e, err := file.Parse(c.run.File, []byte(given.Source), given.Sets)
	if err != nil {
		return nil, err
	}
	return e, e.SetInputs(inputs)
}

// readInputs reads the inputs of requests; there are none without the file.
func readInputs(path string) (experiment.InputSet, error) {
	var s experiment.InputSet
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read the experiment's inputs: %w", err)
	}
	return s, nil
}

// progress records the progress in the state, and reports it to the log.
func (c *conductor) progress(p lab.Progress) {
	c.board.change(func(s *State) {
		s.Planned, s.Done = p.Of, p.Trial-1
		if p.State.Ended() {
			s.Done = p.Trial
		}
	})
	if c.options.Progress != nil {
		c.options.Progress(p)
	}
}

// note writes a line to the log.
func (c *conductor) note(text string) { _, _ = c.Write([]byte(text + "\n")) }

// Write makes the conductor the lab's log.
func (c *conductor) Write(text []byte) (int, error) {
	if c.options.Log == nil {
		return len(text), nil
	}
	if _, err := io.WriteString(c.options.Log, c.scrub(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// end sets the final state of the run and saves it beside the record. stopped
// means that the user ended the run.
func (c *conductor) end(ctx context.Context, err error, stopped bool) {
	finished := false
	if r, openErr := record.Own.Open(c.options.Record); openErr == nil {
		finished = r.Finished
	}
	if err != nil {
		c.log("millicore: %v", err)
	}
	switch {
	case ctx.Err() != nil && !finished: // another conductor may resume it
		c.board.change(func(s *State) { s.State = Interrupted })
		return
	case stopped && !finished:
		c.settle(func(s *State) { s.State, s.Exit = Stopped, exit.Interrupted })
		return
	case err != nil:
		c.settle(func(s *State) {
			s.State, s.Exit, s.Error = Failed, exit.Failed, c.scrub(err.Error())
			if errors.As(err, new(usageError)) {
				s.Exit = exit.Usage
			}
		})
		return
	}
	// The evaluation takes memory. If the container is killed for that, the state
	// already says that the run is done; the command line evaluates the record again.
	done := c.board.read()
	done.State, done.At = Done, time.Now()
	if err := c.save(done); err != nil {
		c.log("millicore: %v", err)
	}
	code := c.judge()
	c.settle(func(s *State) { s.State, s.Exit = Done, code })
}

// settle changes the state for the last time, and saves it.
func (c *conductor) settle(f func(*State)) {
	c.board.change(f)
	if err := c.save(c.board.read()); err != nil {
		c.log("millicore: %v", err)
	}
}

func (c *conductor) judge() int {
	notMet, err := c.options.Judge(c.options.Record)
	if err != nil {
		c.note(fmt.Sprintf("millicore: cannot evaluate the objective: %v", err))
	}
	var code exit.NotMet
	if errors.As(notMet, &code) {
		return int(code)
	}
	return exit.OK
}

func (c *conductor) log(format string, args ...any) {
	if c.options.Log != nil {
		fmt.Fprintln(c.options.Log, c.scrub(fmt.Sprintf(format, args...)))
	}
}

// stateFile is the path of the saved state, for a conductor whose container
// restarts after the end of the run.
func (c *conductor) stateFile() string {
	return filepath.Join(filepath.Dir(filepath.Clean(c.options.Record)), "state.json")
}

func (c *conductor) save(s State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return safefile.Replace(c.stateFile(), append(text, '\n'), record.FileMode)
}

// ended restores the state of a run that ended before this container started. A
// file that cannot be read is ignored: the record shows what is done.
func (c *conductor) ended() bool {
	var s State
	text, err := os.ReadFile(c.stateFile())
	if err != nil || json.Unmarshal(text, &s) != nil || s.Run != c.run.Run || !s.State.Ended() {
		return false
	}
	c.board.set(s)
	return true
}

// keep waits until the time for keeping the record is over, or ctx ends, and then
// removes the run. A record in a volume of its own outlives this pod: if ctx ends,
// keep returns ErrInterrupted, and the next pod continues to keep it.
func (c *conductor) keep(ctx context.Context, s State) error {
	left := time.Until(s.At.Add(c.run.Keep()))
	if left > 0 {
		c.log("The run is %s. Its record is kept for %v.", s.State, span.Text(left.Round(time.Second)))
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

// removeWithin bounds the removal: a pod that is being deleted has 60 s.
const removeWithin = 20 * time.Second
