package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/conductor"
	"github.com/millicore/millicore/internal/conductor/dial"
	"github.com/millicore/millicore/internal/experiment"
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

// newest is the pod that was made last, those before others that have not ended.
func newest(pods []corev1.Pod) *corev1.Pod {
	var best *corev1.Pod
	for i := range pods {
		p := &pods[i]
		if best == nil || ended(best) && !ended(p) ||
			ended(best) == ended(p) && best.CreationTimestamp.Before(&p.CreationTimestamp) {
			best = p
		}
	}
	return best
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

func restarts(p *corev1.Pod) int32 {
	for _, s := range p.Status.ContainerStatuses {
		if s.Name == conductorContainer {
			return s.RestartCount
		}
	}
	return 0
}

// started tells whether the container has been: then it has a log.
func started(p *corev1.Pod) bool {
	for _, s := range p.Status.ContainerStatuses {
		if s.Name == conductorContainer {
			return s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
		}
	}
	return false
}

// lastWords say why a pod ended.
func lastWords(p *corev1.Pod) string {
	words := p.Status.Reason
	if p.Status.Message != "" {
		words += ": " + p.Status.Message
	}
	for _, s := range p.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && words == "" {
			words = fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode)
		}
	}
	if words == "" {
		return string(p.Status.Phase)
	}
	return words
}

// job asks what became of the Job where no pod of it runs.
func (f *Follower) job(ctx context.Context, last *corev1.Pod) error {
	job, err := kube.Jobs.Get(ctx, f.Client, Name(f.Run))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("run %s in namespace %s: %w", f.Run, f.Client.Namespace, ErrGone)
	case refused(err):
		return fmt.Errorf("follow run %s, which goes on: %w", f.Run, err)
	case err != nil:
		f.unanswered(err)
		return nil
	}
	if why, over := jobOver(job); over {
		if last != nil {
			why += "; its last pod: " + lastWords(last)
		}
		return fmt.Errorf("run %s: %w: its conductor ended for good (%s)", f.Run, ErrLost, why)
	}
	if last != nil {
		return nil
	}
	return f.wait("no pod of the conductor is there yet" + f.events(ctx))
}

// jobOver tells whether a Job makes no more pods, and why.
func jobOver(job *batchv1.Job) (string, bool) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete) {
			if c.Type == batchv1.JobComplete {
				return "it is complete", true
			}
			return c.Reason + ": " + c.Message, true
		}
	}
	return "", false
}

// events is the cluster's last warning on the Job: why it could make no pod.
func (f *Follower) events(ctx context.Context) string {
	text, err := kube.LastWarning(ctx, f.Client, kube.Jobs.Name, Name(f.Run))
	if err != nil || text == "" { // few may read them
		return ""
	}
	return ": " + text
}

// waits tells why a pod's container is not started.
func (f *Follower) waits(p *corev1.Pod) error {
	words := ""
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			words = "no node takes the conductor's pod: " + c.Message
		}
	}
	for _, s := range p.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			words = fmt.Sprintf("the conductor's container waits: %s: %s", w.Reason, w.Message)
		}
	}
	if words == "" && p.Status.Phase == corev1.PodPending {
		words = "the conductor's pod is being started"
	}
	return f.wait(words)
}

// wait tells words once, and goes on no longer where nothing has changed for long:
// the run itself may still come to its conductor.
func (f *Follower) wait(words string) error {
	switch {
	case words == "":
		f.said = ""
	case words != f.said:
		f.said, f.since = words, time.Now()
		f.Note(words)
	case time.Since(f.since) > f.patient:
		return fmt.Errorf("run %s: %w: for %v %s", f.Run, ErrWaits, f.patient, words)
	}
	return nil
}

// Path is that of something the conductor in a pod serves, under the API server.
func Path(namespace, pod, what string) string {
	return fmt.Sprintf("/api/v1/namespaces/%s/pods/https:%s:%d/proxy%s", namespace, pod, kube.ConductorPort, what)
}

// stateWithin bounds one question for the state.
const stateWithin = 10 * time.Second

// state asks the conductor how the run stands.
func (f *Follower) state(ctx context.Context, pod string) (s conductor.State, err error) {
	ctx, cancel := context.WithTimeout(ctx, stateWithin)
	defer cancel()
	answer, err := f.ask(ctx, pod, "/state")
	if err != nil {
		return s, err
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&s); err != nil {
		return s, fmt.Errorf("read the state of the run: %w", err)
	}
	if s.Run != f.Run {
		return s, fmt.Errorf("the conductor in pod %s conducts %q, not %q", pod, s.Run, f.Run)
	}
	return s, nil
}

func (f *Follower) ask(ctx context.Context, pod, what string) (*http.Response, error) {
	return f.Client.Raw(ctx, Path(f.Client.Namespace, pod, what), http.Header{dial.TokenHeader: {f.token}})
}

// unreached has the network policy let in everybody where a pod that runs cannot
// be reached through the API server for long. What the log tells, it tells
// without that.
func (f *Follower) unreached(ctx context.Context, p *corev1.Pod, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("ask the conductor of run %s, which goes on: %w", f.Run, err)
	}
	running := false
	for _, s := range p.Status.ContainerStatuses {
		running = running || s.Name == conductorContainer && s.State.Running != nil
	}
	switch {
	case !running:
		f.silent = time.Time{}
	case f.silent.IsZero():
		f.silent = time.Now()
	case time.Since(f.silent) > f.closed && !f.opened:
		f.opened = true
		f.Note(fmt.Sprintf("the API server cannot reach the conductor's pod (%v); its network policy now lets in whoever shows the run's token", err))
		if err := f.open(ctx); err != nil {
			f.Note(fmt.Sprintf("change the network policy: %v", err))
		}
	}
	return nil
}

// open puts the open policy in the place of the run's.
func (f *Follower) open(ctx context.Context) error {
	owner, err := kube.ConfigMaps.Get(ctx, f.Client, Name(f.Run))
	if err != nil {
		return err
	}
	if err := kube.NetworkPolicies.Delete(ctx, f.Client, Name(f.Run), kube.Delete{}); err != nil {
		return err
	}
	policy := (&Asked{Run: f.Run, Experiment: &experiment.Experiment{}}).policy(true)
	policy.OwnerReferences = append(policy.OwnerReferences, OwnedBy(owner))
	_, err = kube.NetworkPolicies.Create(ctx, f.Client, policy)
	return err
}
