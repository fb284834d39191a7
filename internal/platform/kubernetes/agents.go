package kubernetes

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

	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/platform"
)

// agentJob is the Job of a run's agents, which stay for all trials.
type agentJob struct {
	mu   sync.Mutex
	most int // agents that the experiment needs at once; 0: not known
	made bool
	size int
}

// Agent gives the stream of an agent for one trial. The first call makes the Job
// of all agents that the experiment needs.
func (k *kubernetes) Agent(ctx context.Context, trial, index int) (platform.Agent, error) {
	if k.options.Agents == nil {
		return nil, errors.New("start an agent: nobody listens for agents")
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

// makeAgents makes the Job, once.
func (k *kubernetes) makeAgents(ctx context.Context, index int) error {
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
	if _, err := kube.Jobs.Create(ctx, k.api, k.maker.job(size)); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the Job %s: %w", k.maker.agentsName(), err)
	}
	j.made, j.size = true, size
	return nil
}

// dialIn is how long an agent may take to dial in once its container runs: it
// waits up to 10 s before it dials again.
const dialIn = time.Minute

// watchAgent waits while an agent is on its way, until ctx ends. The error is
// that it will not come.
func (k *kubernetes) watchAgent(ctx context.Context, index int) error {
	hurdles := newHurdles(k.options.Note, fmt.Sprintf("start agent %d", index))
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		some, changed, err := k.pods.of(map[string]string{kube.LabelPart: kube.PartAgent, batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)})
		if err != nil {
			return err
		}
		in := agentObstacle(some)
		if err := hurdles.meet(in, time.Now()); err != nil {
			if len(some) == 0 {
				return fmt.Errorf("%w%s", err, k.lastWarning(ctx, "Job", k.maker.agentsName()))
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

// agentObstacle is what keeps an agent from dialling in.
func agentObstacle(some []*corev1.Pod) *obstacle {
	for _, p := range some {
		if gone(p) != "" {
			continue
		}
		if o := obstacleOf(p, agentContainer); o != nil {
			return o
		}
		if s := statusOf(p, agentContainer); s.State.Running == nil {
			return &obstacle{what: fmt.Sprintf("its pod %s does not stay up: %s", p.Name, obituary(ended(s), 0)), patience: unmadeFor,
				how: "see its log; where it was killed for want of memory, give it more with kubernetes.agents.memory"}
		}
		return &obstacle{what: fmt.Sprintf("its pod %s runs, and has not dialled the conductor yet", p.Name), patience: dialIn,
			how: "see its log, and whether a NetworkPolicy keeps it from the conductor"}
	}
	return &obstacle{what: "the cluster has not made its pod yet", patience: refusedFor,
		how: "a quota or a policy of the namespace may forbid it"}
}
