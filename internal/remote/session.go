package remote

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/conductor"
	"github.com/millicore/millicore/internal/exit"
	"github.com/millicore/millicore/internal/kube"
)

// Session is a run in a cluster as somebody sees it who looks on: it is checked
// and started, or taken up, followed to its end, its record is fetched, and it is
// removed.
type Session struct {
	Client   *kube.Client
	Run      string // its name
	Out      string // folder for the record, which must be free
	Attached bool   // somebody else started the run
	Again    string // the command that takes the run up again, for people
	Clean    string // the one that removes it

	Line  func(string)          // takes the conductor's log, line by line
	Note  func(string)          // takes what is done, waited for, and went wrong
	State func(conductor.State) // takes how the run stands, at each look; may be nil
	// HungUp tells, once the context of Follow has ended, whether the user's terminal
	// is gone, which is no reason to end the run; nil: it never is.
	HungUp func() bool

	follower    Follower
	backupEvery time.Duration // 0: as a user has it
	fetching    atomic.Bool   // the run has ended
}

// ErrWrong is in the error of a run whose experiment is wrong, or that cannot take
// place in its cluster.
var ErrWrong = errors.New("the run cannot be as it was asked for")

// wrong is an ErrWrong in words.
type wrong string

func (w wrong) Error() string        { return string(w) }
func (w wrong) Is(target error) bool { return target == ErrWrong }

// How the following of a run ends that goes on, or is removed.
var (
	errLeft   = errors.New("the terminal is gone")
	errUnused = conductor.InterruptedError("interrupted before anything was measured; the run is removed")
)

// Check is the function Check, whose error is a conductor.ErrInterrupted where ctx
// has ended.
func (s *Session) Check(ctx context.Context, a *Asked) (Needs, error) {
	needs, err := Check(ctx, s.Client, a)
	if ctx.Err() != nil {
		return nil, conductor.InterruptedError("interrupted; nothing was started")
	}
	return needs, err
}

// Start starts the run of which Check gave these needs. Where something is missing
// the error is an ErrWrong, and nothing is started; where ctx has ended it is a
// conductor.ErrInterrupted. What is not known or is to be known is told.
func (s *Session) Start(ctx context.Context, a *Asked, needs Needs) error {
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
		return conductor.InterruptedError("interrupted; what was started is removed")
	}
	return err
}

// Follow follows the run to its end, fetches its record into Out, and removes the
// run from the cluster. fetched tells whether the record is there. The error is how
// the run ended: nil where its plan was worked through, a conductor.ErrInterrupted
// where its user ended it, an ErrWrong where the experiment was wrong; or what kept
// the record from being fetched. Where the run is lost, or was removed by somebody,
// Out may hold what was fetched after a former trial.
//
// When ctx ends the run is ended, as a local one is: cleanly, and with what was
// measured; one that has measured nothing is removed. A run that is given up for
// another reason goes on, and the error says how it is taken up.
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
		return false, conductor.InterruptedError("the terminal is gone; the run goes on: " + s.Again)
	case errors.Is(err, errUnused), errors.Is(err, ErrWaits) && !s.Attached && !f.Started():
		s.remove(ctx)
		return false, err
	case errors.Is(err, ErrLost):
		s.remove(ctx)
		return saved.use(err)
	case errors.Is(err, ErrGone):
		return saved.use(err)
	case err != nil:
		return false, fmt.Errorf("%w; %s takes it up again", err, s.Again)
	}
	s.fetching.Store(true)
	saved.end() // it would fetch the same at the same time
	ended := outcome(state)
	err = f.Fetch(following, pod, s.Out)
	switch {
	case errors.Is(err, ErrGone), apierrors.IsNotFound(err): // the run, or its pod with the record
		return saved.use(errors.Join(ended, err))
	case errors.Is(err, ErrNoRecord):
		s.remove(ctx)
		return false, errors.Join(ended, err)
	case err != nil:
		return false, errors.Join(ended, fmt.Errorf("%w; it is kept in the cluster for a while, and %s fetches it", err, s.Again))
	}
	saved.drop()
	s.remove(ctx)
	return true, ended
}

// stop ends the run, or leaves it, when the user's context has ended.
func (s *Session) stop(ctx context.Context, leave context.CancelCauseFunc) {
	switch {
	case s.HungUp != nil && s.HungUp():
		leave(errLeft)
		return
	case s.fetching.Load():
		s.Note("the run has ended, and its record is being fetched; Ctrl-C once more leaves that to " + s.Again)
		return
	case !s.follower.Started() && !s.Attached:
		leave(errUnused)
		return
	}
	s.Note("the run is told to end, and its record is fetched; Ctrl-C once more leaves that to " + s.Again)
	for ctx.Err() == nil {
		err := Stop(ctx, s.Client, s.Run)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.Note(fmt.Sprintf("%v; trying again", err))
		sleep(ctx, 5*s.follower.every)
	}
}

// remove removes the run from the cluster. That it cannot be is told, and is no
// error of the run's.
func (s *Session) remove(ctx context.Context) {
	if err := Remove(context.WithoutCancel(ctx), s.Client, s.Run); err != nil {
		s.Note(fmt.Sprintf("%v; %s asks again", err, s.Clean))
	}
}

// outcome is what a conductor says of its run, as an error.
func outcome(s conductor.State) error {
	switch {
	case s.State == conductor.Stopped:
		return conductor.ErrInterrupted
	case s.State == conductor.Done:
		return nil
	case s.Exit == exit.Usage:
		return wrong(s.Error)
	}
	return errors.New(s.Error)
}
