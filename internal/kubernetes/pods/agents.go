package pods

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
	"github.com/millicore/millicore/internal/platform"
)

// agentJob is the Job of a run's agents. They are used for all trials.
type agentJob struct {
	mu   sync.Mutex
	most int // agents that the experiment needs concurrently; 0: not known
	made bool
	size int
}

// Agent returns the stream of an agent for one trial. The first call creates the
// Job with all agents that the experiment needs.
func (k *cluster) Agent(ctx context.Context, trial, index int) (platform.Agent, error) {
	if k.options.Agents == nil {
		return nil, errors.New("start an agent: there is no hub for agents")
	}
	if err := k.makeAgents(ctx, index); err != nil {
		return nil, fmt.Errorf("start agent %d: %w", index, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if err := k.watchAgent(ctx, index); err != nil {
			cancel(err)
		}
	}()
	a, err := k.options.Agents.Agent(ctx, index)
	cause := context.Cause(ctx)
	cancel(nil)
	<-watched
	switch {
	case err == nil:
		return a, nil
	case cause != nil:
		return nil, fmt.Errorf("start agent %d: %w", index, cause)
	}
	return nil, fmt.Errorf("start agent %d: %w", index, err)
}

// makeAgents creates the Job, once.
func (k *cluster) makeAgents(ctx context.Context, index int) error {
	j := &k.agents
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.made {
		if index >= j.size {
			return fmt.Errorf("the run has %d agents", j.size)
		}
		return nil
	}
	size := max(j.most, index+1)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), brief)
	defer cancel()
	if err := k.makeSecret(ctx, k.maker.AgentSecret(size, k.options.Agents)); err != nil {
		return err
	}
	if _, err := kube.Jobs.Create(ctx, k.api, k.maker.AgentJob(size)); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the Job %s: %w", k.maker.AgentsName(), err)
	}
	j.made, j.size = true, size
	return nil
}

// makeSecret creates a Secret of agents. An earlier conductor of the run may have made
// it, from the same key.
func (k *cluster) makeSecret(ctx context.Context, s *corev1.Secret) error {
	if _, err := kube.Secrets.Create(ctx, k.api, s); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the Secret %s: %w", s.Name, err)
	}
	return nil
}

// dialIn is how long an agent may take to connect once its container runs. An
// agent waits up to 10 s between two attempts.
const dialIn = time.Minute

// watchAgent watches an agent's pod until ctx ends. The error is the reason why
// the agent cannot connect.
func (k *cluster) watchAgent(ctx context.Context, index int) error {
	obstacles := podstatus.NewObstacles(k.options.Note, fmt.Sprintf("start agent %d", index))
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		some, changed, err := k.pods.With(map[string]string{kube.LabelPart: kube.PartAgent, batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)})
		if err != nil {
			return err
		}
		in := agentObstacle(some)
		if err := obstacles.Meet(in, time.Now()); err != nil {
			if len(some) == 0 {
				return fmt.Errorf("%w%s", err, k.lastWarning(ctx, "Job", k.maker.AgentsName()))
			}
			return fmt.Errorf("%w%s", err, k.warningOf(ctx, in, some))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-look.C:
		}
	}
}

// agentObstacle is what keeps an agent from connecting.
func agentObstacle(some []*corev1.Pod) *podstatus.Obstacle {
	for _, p := range some {
		if podstatus.Gone(p) != "" {
			continue
		}
		if o := podstatus.ObstacleOf(p, objects.AgentContainer); o != nil {
			return o
		}
		if s := podstatus.Of(p, objects.AgentContainer); s.State.Running == nil {
			return &podstatus.Obstacle{What: fmt.Sprintf("its pod %s does not stay up: %s", p.Name, podstatus.EndText(podstatus.Ended(s), 0)), Patience: podstatus.UnmadeFor,
				How: "see its log; if it ran out of memory, raise kubernetes.agents.memory"}
		}
		return &podstatus.Obstacle{What: fmt.Sprintf("its pod %s runs but has not connected to the conductor yet", p.Name), Patience: dialIn,
			How: "see its log, and check whether a NetworkPolicy blocks its connection to the conductor"}
	}
	return &podstatus.Obstacle{What: "the cluster has not created its pod yet", Patience: podstatus.RefusedFor,
		How: "a quota or a policy of the namespace may forbid it"}
}
