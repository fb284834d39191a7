package launch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// Follower follows a run from outside the cluster. It continues if the cluster cannot
// be reached for a while: the run does not need the follower.
type Follower struct {
	Client *kube.Client
	Run    string
	Line   func(string)          // the conductor's log, line by line
	Note   func(string)          // waits and errors
	State  func(conductor.State) // the state of the run, at each look; may be nil

	every   time.Duration // between two looks
	patient time.Duration // how long the same reason may keep a conductor's pod from starting
	closed  time.Duration // how long a running pod may be unreachable before the network policy is opened

	looked func(pod string, s conductor.State) // as State, for this package

	begun   atomic.Bool // the conductor's container was seen to run
	token   string
	said    string // the last note about the pod
	since   time.Time
	silent  time.Time // since when the pod runs and cannot be reached
	refused time.Time // since when the conductor refuses the token; zero: it does not
	opened  bool      // the network policy was opened
	away    bool      // it was noted that the cluster is unreachable
	evicted string    // the pod that was noted as lost
}

// Errors of Follow.
var (
	// ErrGone reports that the cluster has no such run.
	ErrGone = errors.New("the namespace has no such run: its record was already fetched or has expired (kubernetes.keep), or the run is in another --namespace or --context")
	// ErrLost reports that the run's conductor ended permanently, without a record that
	// could be fetched.
	ErrLost = errors.New("its record cannot be fetched")
	// ErrWaits reports that the cluster has not started the run's conductor. It still
	// may.
	ErrWaits = errors.New("the conductor has not started")
)

const (
	usualEvery   = time.Second
	usualPatient = 10 * time.Minute
	usualClosed  = 20 * time.Second
)

// Follow returns when the run has ended, with its state and the name of the pod that
// has the record. When ctx ends the error is the context's, and the run continues.
func (f *Follower) Follow(ctx context.Context) (pod string, s conductor.State, err error) {
	if f.every == 0 {
		f.every, f.patient, f.closed = usualEvery, usualPatient, usualClosed
	}
	if err := f.know(ctx); err != nil {
		return "", s, err
	}
	log := &kube.Tail{Client: f.Client, Container: conductorContainer, Line: f.Line}
	stop := func() {}
	defer func() { stop() }()
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	following := ""
	for {
		p, err := f.look(ctx)
		if err != nil {
			return "", s, err
		}
		if p != nil && started(p) {
			f.begun.Store(true)
			if now := p.Name + " " + strconv.Itoa(int(restarts(p))); now != following {
				stop()
				following, stop = now, f.tail(ctx, log, p.Name, restarts(p))
			}
			if s, err = f.state(ctx, p.Name); err == nil {
				f.silent, f.refused = time.Time{}, time.Time{}
				if f.State != nil {
					f.State(s)
				}
				if f.looked != nil && !over(s) {
					f.looked(p.Name, s)
				}
				if over(s) {
					stop()
					_ = log.Read(ctx, false)
					log.Flush()
					return p.Name, s, nil
				}
			} else if err := f.unreached(ctx, p, err); err != nil {
				return "", s, err
			}
		}
		select {
		case <-ctx.Done():
			return "", s, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// Started reports whether the conductor has run, and so may have measured.
func (f *Follower) Started() bool { return f.begun.Load() }

// over reports whether the run has ended. A conductor that was interrupted is restarted
// and continues.
func over(s conductor.State) bool { return s.State.Ended() && s.State != conductor.Interrupted }

// know makes the follower a reader of the run, and retries until the cluster answers.
func (f *Follower) know(ctx context.Context) error {
	if f.token == "" {
		f.token = newToken()
	}
	for {
		err := register(ctx, f.Client, f.Run, f.token)
		switch {
		case err == nil:
			f.here()
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case apierrors.IsNotFound(err):
			return fmt.Errorf("run %s in namespace %s: %w", f.Run, f.Client.Namespace, ErrGone)
		case refused(err):
			return fmt.Errorf("become a reader of run %s: %w", f.Run, err)
		}
		f.unanswered(err)
		sleep(ctx, f.every)
	}
}

// refused reports whether a retry is useless.
func refused(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// unanswered and here note once that the cluster is unreachable, and that it answers
// again.
func (f *Follower) unanswered(err error) {
	if !f.away {
		f.away = true
		f.Note(fmt.Sprintf("%v; the run continues; trying again", err))
	}
}

func (f *Follower) here() {
	if f.away {
		f.away = false
		f.Note("the cluster answers again")
	}
}

// look returns the run's newest conductor pod, or nil if there is none at the moment. A
// retry does not help after an error.
func (f *Follower) look(ctx context.Context) (*corev1.Pod, error) {
	pods, err := kube.Pods.List(ctx, f.Client, Selector(f.Run, kube.PartConductor))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case refused(err):
		return nil, fmt.Errorf("follow run %s, which continues: %w", f.Run, err)
	case err != nil:
		f.unanswered(err)
		return nil, nil
	}
	f.here()
	p := newest(pods)
	if p == nil || ended(p) {
		if err := f.job(ctx, p); err != nil || p == nil {
			return nil, err
		}
		if f.evicted != p.Name {
			f.evicted = p.Name
			f.Note(fmt.Sprintf("the conductor's pod %s has ended (%s); the cluster starts another", p.Name, endReason(p)))
		}
		return nil, nil
	}
	return p, f.waits(p)
}
