package launch

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
)

// checker checks a cluster and leaves nothing there.
type checker struct {
	client  *kube.Client
	asked   *Request
	version kube.Version
	every   time.Duration // between two looks at a pod that checks an image
	patient time.Duration // how long an image may take
}

// Check returns everything that the run needs, and whether the cluster has it, before
// anything is started. It creates only pods that check images, with a program that
// does not exist, and removes them. An error means that the API server does not
// answer.
func Check(ctx context.Context, c *kube.Client, a *Request) (Requirements, error) {
	k := &checker{client: c, asked: a, every: 500 * time.Millisecond, patient: 5 * time.Minute}
	return k.check(ctx)
}

func (k *checker) check(ctx context.Context) (Requirements, error) {
	first, err := k.server(ctx)
	if err != nil {
		return nil, err
	}
	space, ok := k.namespace(ctx)
	needs := Requirements{first, space}
	if !ok { // all other checks would fail too
		return needs, nil
	}
	// They run concurrently; their results are in this order.
	all := []func(context.Context) Requirements{k.rights, k.metricsRight, k.metrics, k.resize, k.secrets, k.claim, k.quotas, k.tries, k.images}
	found := make([]Requirements, len(all))
	var asking sync.WaitGroup
	for i, ask := range all {
		asking.Go(func() { found[i] = ask(ctx) })
	}
	asking.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, some := range found {
		needs = append(needs, some...)
	}
	return needs, nil
}

// oldest is the oldest minor version of Kubernetes 1 with everything that a run uses.
const oldest = 28

// server checks whether the API server answers, and its version.
func (k *checker) server(ctx context.Context) (Requirement, error) {
	var err error
	if k.version, err = k.client.Version(ctx); err != nil {
		return Requirement{}, fmt.Errorf("the cluster does not answer: %w; check with `kubectl version`, or choose another with --context and --kubeconfig", err)
	}
	what := "API server"
	if k.version.Minor > 0 && k.version.Minor < oldest {
		return missing(what, "%s at %s is older than 1.%d; use a newer cluster", k.version.Name, k.client.Server, oldest), nil
	}
	return there(what, "%s at %s", k.version.Name, k.client.Server), nil
}

// namespace does a dry run of creating a ConfigMap: reading a namespace needs a
// permission that is not needed otherwise.
func (k *checker) namespace(ctx context.Context) (Requirement, bool) {
	what := "namespace " + k.client.Namespace
	_, err := kube.ConfigMaps.Try(ctx, k.client, &corev1.ConfigMap{ObjectMeta: k.asked.meta(Name(k.asked.Run), kube.PartConductor)})
	switch {
	case err == nil, apierrors.IsForbidden(err) && strings.Contains(err.Error(), "quota"):
		return there(what, "objects can be created in it"), true
	case apierrors.IsNotFound(err):
		return missing(what, "it does not exist; create it (kubectl create namespace %s), or use another with --namespace", k.client.Namespace), false
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "terminated"):
		return missing(what, "it is being deleted; use another with --namespace"), false
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return unknown(what, "no permission to create objects in it"), !apierrors.IsUnauthorized(err)
	}
	return unknown(what, "%v", err), true
}

// metrics checks for metrics-server if a service is autoscaled.
func (k *checker) metrics(ctx context.Context) Requirements {
	what := "metrics-server"
	for i := range k.asked.Experiment.Cells {
		s := &k.asked.Experiment.Cells[i].Service
		if s.Autoscale == nil {
			continue
		}
		answer, err := k.client.Raw(ctx, "/apis/metrics.k8s.io/v1beta1", nil)
		switch {
		case err == nil:
			answer.Body.Close()
			return Requirements{there(what, "metrics.k8s.io answers, for the autoscale of %s", s.Name)}
		case apierrors.IsForbidden(err):
			return Requirements{unknown(what, "no permission to read metrics.k8s.io; without it %s is not scaled", s.Name)}
		}
		return Requirements{missing(what, "metrics.k8s.io does not answer (%v), and the autoscale of %s needs it; install metrics-server, or leave autoscale out", err, s.Name)}
	}
	return nil
}

func (k *checker) resize(context.Context) Requirements {
	if !k.asked.Experiment.Measure.Resize {
		return nil
	}
	what := "in-place resize"
	if k.version.Minor == 0 {
		return Requirements{unknown(what, "the version %s does not show whether pods can be resized", k.version.Name)}
	}
	if err := objects.SuitsVersion(k.asked.Experiment, k.version); err != nil {
		return Requirements{missing(what, "%v", err)}
	}
	return Requirements{there(what, "supported by %s", k.version.Name)}
}

// secrets checks the pull secrets of images.
func (k *checker) secrets(ctx context.Context) Requirements {
	var needs Requirements
	for _, name := range k.asked.Experiment.Kubernetes.PullSecrets {
		what := "pull secret " + name
		s, err := kube.Secrets.Get(ctx, k.client, name)
		switch {
		case apierrors.IsNotFound(err):
			needs = append(needs, missing(what, "it is not in namespace %s; create it (kubectl create secret docker-registry %s …)", k.client.Namespace, name))
		case err != nil:
			needs = append(needs, unknown(what, "%v", err))
		case s.Type != corev1.SecretTypeDockerConfigJson && s.Type != corev1.SecretTypeDockercfg:
			needs = append(needs, missing(what, "it is of the type %s, not %s; create one of that type (kubectl create secret docker-registry)", cmp.Or(s.Type, corev1.SecretTypeOpaque), corev1.SecretTypeDockerConfigJson))
		default:
			needs = append(needs, there(what, "it is in the namespace"))
		}
	}
	return needs
}

// claim checks the volume for the record.
func (k *checker) claim(ctx context.Context) Requirements {
	name := k.asked.Experiment.Kubernetes.RecordClaim
	if name == "" {
		return nil
	}
	what := "record_claim " + name
	claim, err := kube.Claims.Get(ctx, k.client, name)
	switch {
	case apierrors.IsNotFound(err):
		return Requirements{missing(what, "there is no such PersistentVolumeClaim in namespace %s; create it, or leave record_claim out", k.client.Namespace)}
	case err != nil:
		return Requirements{unknown(what, "%v", err)}
	case claim.Status.Phase == corev1.ClaimLost:
		return Requirements{missing(what, "its volume is lost; create it again")}
	case claim.Status.Phase == corev1.ClaimPending:
		return Requirements{{what, Noted, "it is not bound yet: it may be bound when the conductor's pod starts"}}
	}
	return Requirements{there(what, "it is bound")}
}
