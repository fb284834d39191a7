package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/millicore/millicore/internal/kube"
)

// checker looks at a cluster, and leaves nothing there.
type checker struct {
	client  *kube.Client
	asked   *Asked
	version *version.Info
	every   time.Duration // between two looks at a pod that tries an image
	patient time.Duration // how long an image may take
}

// Check finds what the run needs and the cluster does not have, before anything
// is started: all of it, not the first. It makes nothing but pods that try images,
// whose program does not exist, and removes them. An error means that the API
// server does not answer.
func Check(ctx context.Context, c *kube.Client, a *Asked) (Needs, error) {
	k := &checker{client: c, asked: a, every: 500 * time.Millisecond, patient: 5 * time.Minute}
	return k.check(ctx)
}

func (k *checker) check(ctx context.Context) (Needs, error) {
	first, err := k.server(ctx)
	if err != nil {
		return nil, err
	}
	space, ok := k.namespace(ctx)
	needs := Needs{first, space}
	if !ok { // whatever else is asked would be told as missing too
		return needs, nil
	}
	// Each asks on its own; they are told in this order.
	all := []func(context.Context) Needs{k.rights, k.kubelets, k.metrics, k.resize, k.secrets, k.claim, k.quotas, k.admission, k.images}
	found := make([]Needs, len(all))
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

// oldest is the minor version of Kubernetes 1 that has all that a run uses.
const oldest = 28

// server asks whether the API server answers, and which version it has.
func (k *checker) server(ctx context.Context) (Need, error) {
	answer, err := k.client.Raw(ctx, "/version", nil)
	if err != nil {
		return Need{}, fmt.Errorf("the cluster does not answer: %w; `kubectl version` asks it too; --context and --kubeconfig name another", err)
	}
	defer answer.Body.Close()
	k.version = new(version.Info)
	if err := json.NewDecoder(answer.Body).Decode(k.version); err != nil {
		return Need{}, fmt.Errorf("the cluster does not answer as Kubernetes does: %w", err)
	}
	what := "API server"
	if minor, known := k.minor(); known && minor < oldest {
		return missing(what, "%s at %s is older than 1.%d; use a newer cluster", k.version.GitVersion, k.client.Server, oldest), nil
	}
	return there(what, "%s at %s", k.version.GitVersion, k.client.Server), nil
}

// minor is that of the cluster's version 1.x; some clouds write "33+".
func (k *checker) minor() (int, bool) {
	minor, err := strconv.Atoi(strings.TrimSuffix(k.version.Minor, "+"))
	return minor, err == nil && k.version.Major == "1"
}

// namespace asks by making a ConfigMap for a try: to look at a namespace itself
// takes a right that few need.
func (k *checker) namespace(ctx context.Context) (Need, bool) {
	what := "namespace " + k.client.Namespace
	err := kube.ConfigMaps.Try(ctx, k.client, &corev1.ConfigMap{ObjectMeta: k.asked.meta(Name(k.asked.Run), kube.PartConductor)})
	switch {
	case err == nil, apierrors.IsForbidden(err) && strings.Contains(err.Error(), "quota"):
		return there(what, "objects can be made in it"), true
	case apierrors.IsNotFound(err):
		return missing(what, "it does not exist; make it (kubectl create namespace %s), or name another with --namespace", k.client.Namespace), false
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "terminated"):
		return missing(what, "it is being deleted; name another with --namespace"), false
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return unknown(what, "you may not make objects in it"), !apierrors.IsUnauthorized(err)
	}
	return unknown(what, "%v", err), true
}

// metrics asks for metrics-server where something is scaled by CPU.
func (k *checker) metrics(ctx context.Context) Needs {
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
			return Needs{there(what, "metrics.k8s.io answers, for the autoscale of %s", s.Name)}
		case apierrors.IsForbidden(err):
			return Needs{unknown(what, "you may not ask for metrics.k8s.io; without it %s is not scaled", s.Name)}
		}
		return Needs{missing(what, "metrics.k8s.io does not answer (%v), and the autoscale of %s needs it; install metrics-server, or leave autoscale out", err, s.Name)}
	}
	return nil
}

// resizes is the minor version from which pods can be resized in place.
const resizes = 33

func (k *checker) resize(context.Context) Needs {
	if !k.asked.Experiment.Measure.Resize {
		return nil
	}
	what := "in-place resize"
	switch minor, known := k.minor(); {
	case !known:
		return Needs{unknown(what, "the version %s does not tell", k.version.GitVersion)}
	case minor < resizes:
		return Needs{missing(what, "Kubernetes 1.%d and newer have it, this is %s; leave measure.resize out", resizes, k.version.GitVersion)}
	}
	return Needs{there(what, "%s has it", k.version.GitVersion)}
}

// secrets asks for those by which images are pulled.
func (k *checker) secrets(ctx context.Context) Needs {
	var needs Needs
	for _, name := range k.asked.Experiment.Kubernetes.PullSecrets {
		what := "pull secret " + name
		s, err := kube.Secrets.Get(ctx, k.client, name)
		switch {
		case apierrors.IsNotFound(err):
			needs = append(needs, missing(what, "it is not in namespace %s; make it (kubectl create secret docker-registry %s …)", k.client.Namespace, name))
		case err != nil:
			needs = append(needs, unknown(what, "%v", err))
		case s.Type != corev1.SecretTypeDockerConfigJson && s.Type != corev1.SecretTypeDockercfg:
			needs = append(needs, missing(what, "it is of the type %s, not %s; make one of that (kubectl create secret docker-registry)", cmp.Or(s.Type, corev1.SecretTypeOpaque), corev1.SecretTypeDockerConfigJson))
		default:
			needs = append(needs, there(what, "it is in the namespace"))
		}
	}
	return needs
}

// claim asks for the volume that the record is to be kept in.
func (k *checker) claim(ctx context.Context) Needs {
	name := k.asked.Experiment.Kubernetes.RecordClaim
	if name == "" {
		return nil
	}
	what := "record_claim " + name
	claim, err := kube.Claims.Get(ctx, k.client, name)
	switch {
	case apierrors.IsNotFound(err):
		return Needs{missing(what, "no PersistentVolumeClaim of this name is in namespace %s; make it, or leave record_claim out", k.client.Namespace)}
	case err != nil:
		return Needs{unknown(what, "%v", err)}
	case claim.Status.Phase == corev1.ClaimLost:
		return Needs{missing(what, "its volume is lost; make it again")}
	case claim.Status.Phase == corev1.ClaimPending:
		return Needs{{what, Noted, "it is not bound yet: a volume is made when the conductor's pod wants it, or never"}}
	}
	return Needs{there(what, "it is bound")}
}

// pod is one of the run's for a try: Pod Security, quotas, limit ranges and the
// cluster's own policies are asked, and nothing is made. It has no account: that of
// the run is not there yet.
func (k *checker) pod(t corev1.PodTemplateSpec) *corev1.Pod {
	t.Spec.ServiceAccountName, t.Spec.AutomountServiceAccountToken = "", new(false)
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: Name(k.asked.Run) + "-", Labels: t.Labels, Annotations: t.Annotations}, Spec: t.Spec}
}
