package launch

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// Session is a run in a cluster from the user's point of view: it is checked and
// started, or resumed, followed to its end, its record is fetched, and it is removed.
type Session struct {
	Client   *kube.Client
	Run      string // its name
	Out      string // folder for the record, which must be free
	Attached bool   // another command started the run
	Again    string // the command that resumes the run, for people
	Clean    string // the command that removes it

	Line  func(string)          // receives the conductor's log, line by line
	Note  func(string)          // receives progress, waits and errors
	State func(conductor.State) // receives the state of the run, at each look; may be nil
	// HungUp reports, when the context of Follow has ended, whether the user's terminal
	// is gone. That does not end the run. nil: it never is.
	HungUp func() bool

	follower    Follower
	backupEvery time.Duration // 0: the default
	fetching    atomic.Bool   // the run has ended
}

// ErrUsage is in the error of a run with an invalid experiment, or with one that its
// cluster cannot run.
var ErrUsage = errors.New("the run is not possible as configured")

// usageError is an ErrUsage with a text.
type usageError string

func (u usageError) Error() string        { return string(u) }
func (u usageError) Is(target error) bool { return target == ErrUsage }

// Errors of a run that continues, or that was removed.
var (
	errLeft   = errors.New("the terminal was closed")
	errUnused = conductor.InterruptedError("interrupted before the first measurement; the run was removed")
)

// Check calls the function Check. The error is a conductor.ErrInterrupted if ctx has
// ended.
func (s *Session) Check(ctx context.Context, a *Request) (Requirements, error) {
	needs, err := Check(ctx, s.Client, a)
	if ctx.Err() != nil {
		return nil, conductor.InterruptedError("interrupted; nothing was started")
	}
	return needs, err
}

// Start starts the run for which Check returned these requirements. If one is missing
// the error is an ErrUsage, and nothing is started; if ctx has ended it is a
// conductor.ErrInterrupted. Start notes unknown requirements and remarks.
func (s *Session) Start(ctx context.Context, a *Request, needs Requirements) error {
	if err := needs.Err(); err != nil {
		return err
	}
	for _, need := range needs {
		if need.State == Noted || need.State == Unknown {
			s.Note(fmt.Sprintf("%s: %s", need.What, need.Words))
		}
	}
	err := Start(ctx, s.Client, a)
	if err != nil && ctx.Err() != nil {
		return conductor.InterruptedError("interrupted; what was started was removed")
	}
	return err
}

// Follow follows the run to its end, fetches its record into Out, and removes the run
// from the cluster. fetched reports whether the record was fetched. The error is the
// result of the run: nil if its plan is done, a conductor.ErrInterrupted if the user
// ended it, an ErrUsage if the experiment was invalid; or the reason why the record
// was not fetched. If the run is lost, or another command removed it, Out may have
// the record after an earlier trial.
//
// When ctx ends, Follow ends the run as a local one: its record has what was measured.
// A run without a measurement is removed. After any other error the run continues,
// and the error says how to resume it.
func (s *Session) Follow(ctx context.Context) (fetched bool, err error) {
	following, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	f := &s.follower
	f.Client, f.Run, f.Line, f.Note, f.State = s.Client, s.Run, s.Line, s.Note, s.State
	saved := newBackup(following, f, s.Out)
	defer saved.end()
	if s.backupEvery > 0 {
		saved.every = s.backupEvery
	}
	f.looked = saved.take
	defer leave(nil)
	unhook := context.AfterFunc(ctx, func() { s.stop(following, leave) })
	defer unhook()
	pod, state, err := f.Follow(following)
	switch {
	case errors.Is(err, errLeft):
		return false, conductor.InterruptedError("the terminal was closed; the run continues; to follow it again, use " + s.Again)
	case errors.Is(err, errUnused), errors.Is(err, ErrWaits) && !s.Attached && !f.Started():
		s.remove(ctx)
		return false, err
	case errors.Is(err, ErrLost):
		s.remove(ctx)
		return saved.use(err)
	case errors.Is(err, ErrGone):
		return saved.use(err)
	case err != nil:
		return false, fmt.Errorf("%w; to follow the run again, use %s", err, s.Again)
	}
	s.fetching.Store(true)
	saved.end() // it would fetch the same record concurrently
	ended := outcome(state)
	err = f.Fetch(following, pod, s.Out)
	switch {
	case errors.Is(err, ErrGone), apierrors.IsNotFound(err): // the run, or its pod with the record
		return saved.use(errors.Join(ended, err))
	case errors.Is(err, ErrNoRecord):
		s.remove(ctx)
		return false, errors.Join(ended, err)
	case err != nil:
		return false, errors.Join(ended, fmt.Errorf("%w; the cluster keeps it for a while, and %s fetches it", err, s.Again))
	}
	saved.drop()
	s.remove(ctx)
	return true, ended
}

// stop ends the run, or leaves it running, when the user's context has ended.
func (s *Session) stop(ctx context.Context, leave context.CancelCauseFunc) {
	switch {
	case s.HungUp != nil && s.HungUp():
		leave(errLeft)
		return
	case s.fetching.Load():
		s.Note("the run has ended; fetching its record. Press Ctrl-C again to stop, and fetch it later with " + s.Again)
		return
	case !s.follower.Started() && !s.Attached:
		leave(errUnused)
		return
	}
	s.Note("ending the run and fetching its record. Press Ctrl-C again to stop, and fetch it later with " + s.Again)
	for ctx.Err() == nil {
		err := Stop(ctx, s.Client, s.Run)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.Note(fmt.Sprintf("%v; trying again", err))
		sleep(ctx, 5*s.follower.every)
	}
}

// remove removes the run from the cluster. It only notes an error.
func (s *Session) remove(ctx context.Context) {
	if err := Remove(context.WithoutCancel(ctx), s.Client, s.Run); err != nil {
		s.Note(fmt.Sprintf("%v; to remove the run, use %s", err, s.Clean))
	}
}

// outcome converts the final state of a run to an error.
func outcome(s conductor.State) error {
	switch {
	case s.State == conductor.Stopped:
		return conductor.ErrInterrupted
	case s.State == conductor.Done:
		return nil
	case s.Exit == exit.Usage:
		return usageError(s.Error)
	}
	return errors.New(s.Error)
}
