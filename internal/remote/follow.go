package remote

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/conductor"
	"github.com/millicore/millicore/internal/kube"
)

// Follower follows a run from afar. That the cluster cannot be reached for a
// while is no reason to end: the run does not need the follower.
type Follower struct {
	Client *kube.Client
	Run    string
	Line   func(string)          // the conductor's log, line by line
	Note   func(string)          // what is waited for, and what went wrong
	State  func(conductor.State) // how the run stands, at each look; may be nil

	every   time.Duration // between two looks
	patient time.Duration // how long a conductor's pod may not get started for one and the same reason
	closed  time.Duration // how long a pod that runs may not be reached, until the network policy is taken for the reason

	looked func(pod string, s conductor.State) // as State; of this package

	begun   atomic.Bool // the conductor's container was seen to run
	token   string
	said    string // the last words on the pod
	since   time.Time
	silent  time.Time // since when the pod runs and cannot be reached
	opened  bool      // the open policy is there
	away    bool      // the cluster was told to be out of reach
	evicted string    // the pod that was told to be lost
}

// Errors of Follow.
var (
	// ErrGone says that the cluster knows no such run.
	ErrGone = errors.New("there is no such run in the namespace: its record was fetched, or not within the time that it is kept (kubernetes.keep), or it has another --namespace or --context")
	// ErrLost says that the run's conductor ended for good without leaving a record
	// that could be fetched.
	ErrLost = errors.New("the run is lost")
	// ErrWaits says that nobody starts the run's conductor. The cluster may yet.
	ErrWaits = errors.New("its conductor is not started")
)

const (
	usualEvery   = time.Second
	usualPatient = 10 * time.Minute
	usualClosed  = 20 * time.Second
)

// Follow returns when the run has ended, with how it did and the name of the pod
// that has the record. When ctx ends its error is the context's, and the run goes
// on.
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
				f.silent = time.Time{}
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

// Started tells whether the conductor was seen to run, and so may have measured.
func (f *Follower) Started() bool { return f.begun.Load() }

// over tells whether nothing more will come. A conductor that was interrupted is
// started again, and goes on.
func over(s conductor.State) bool { return s.State.Ended() && s.State != conductor.Interrupted }

// know reads the run's token, asking until the cluster answers.
func (f *Follower) know(ctx context.Context) error {
	for {
		secret, err := kube.Secrets.Get(ctx, f.Client, Name(f.Run))
		switch {
		case err == nil:
			f.token = string(secret.Data[path.Base(conductor.TokenFile)])
			f.here()
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case apierrors.IsNotFound(err):
			return fmt.Errorf("run %s in namespace %s: %w", f.Run, f.Client.Namespace, ErrGone)
		case refused(err):
			return fmt.Errorf("read the token of run %s: %w", f.Run, err)
		}
		f.unanswered(err)
		sleep(ctx, f.every)
	}
}

// refused tells whether asking again is of no use.
func refused(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// unanswered and here tell once that the cluster is out of reach, and that it is
// back.
func (f *Follower) unanswered(err error) {
	if !f.away {
		f.away = true
		f.Note(fmt.Sprintf("%v; the run goes on without this, which asks again", err))
	}
}

func (f *Follower) here() {
	if f.away {
		f.away = false
		f.Note("the cluster answers again")
	}
}

// look gives the run's newest conductor pod, nil where there is none just now. The
// error is one that more looking does not help.
func (f *Follower) look(ctx context.Context) (*corev1.Pod, error) {
	pods, err := kube.Pods.List(ctx, f.Client, Selector(f.Run, kube.PartConductor))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case refused(err):
		return nil, fmt.Errorf("follow run %s, which goes on: %w", f.Run, err)
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
			f.Note(fmt.Sprintf("the conductor's pod %s has ended (%s); the cluster makes another", p.Name, lastWords(p)))
		}
		return nil, nil
	}
	return p, f.waits(p)
}
