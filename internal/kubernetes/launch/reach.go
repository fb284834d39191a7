package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/tunnel"
)

// The API server's proxy connects the command line to the conductor's pod.

// Path is the path of a resource of the conductor in a pod, on the API server.
func Path(namespace, pod, what string) string {
	return fmt.Sprintf("/api/v1/namespaces/%s/pods/https:%s:%d/proxy%s", namespace, pod, kube.ConductorPort, what)
}

// stateWithin bounds one request for the state.
const stateWithin = 10 * time.Second

// state gets the state of the run from the conductor.
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
	return f.Client.Raw(ctx, Path(f.Client.Namespace, pod, what), http.Header{tunnel.TokenHeader: {f.token}})
}

// unreached opens the network policy if a running pod cannot be reached through the API
// server for long. The log does not need that.
func (f *Follower) unreached(ctx context.Context, p *corev1.Pod, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case apierrors.IsUnauthorized(err): // by the conductor, which was reached
		f.silent = time.Time{}
		if f.refused.IsZero() {
			f.refused = time.Now()
		}
		if time.Since(f.refused) > f.closed {
			return fmt.Errorf("query the conductor of run %s, which continues: %w; use the millicore that started the run", f.Run, err)
		}
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("query the conductor of run %s, which continues: %w", f.Run, err)
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
		f.Note(fmt.Sprintf("the API server cannot reach the conductor's pod (%v); its network policy now admits every address, and the conductor every client with a token of the run", err))
		if err := f.open(ctx); err != nil {
			f.Note(fmt.Sprintf("change the network policy: %v", err))
		}
	}
	return nil
}

// open replaces the run's policy by the open one.
func (f *Follower) open(ctx context.Context) error {
	owner, err := kube.ConfigMaps.Get(ctx, f.Client, Name(f.Run))
	if err != nil {
		return err
	}
	if err := kube.NetworkPolicies.Delete(ctx, f.Client, Name(f.Run), kube.Delete{}); err != nil {
		return err
	}
	policy := (&Request{Run: f.Run, Experiment: &experiment.Experiment{}}).policy(true)
	policy.OwnerReferences = append(policy.OwnerReferences, OwnedBy(owner))
	_, err = kube.NetworkPolicies.Create(ctx, f.Client, policy)
	return err
}
