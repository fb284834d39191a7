package launch

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// Start creates the objects of a run. After an error it removes them, if the server
// answers.
func Start(ctx context.Context, c *kube.Client, a *Request) error {
	p, err := newProof(a.Run, time.Now(), a.longest())
	if err != nil {
		return err
	}
	o, err := a.objects(c.Namespace, p)
	if err != nil {
		return err
	}
	err = o.create(ctx, c)
	if errors.Is(err, errTaken) { // and must not be removed
		return fmt.Errorf("start run %s in namespace %s: %w", a.Run, c.Namespace, err)
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		return fmt.Errorf("start run %s in namespace %s: %w", a.Run, c.Namespace,
			errors.Join(err, kube.ConfigMaps.Delete(ctx, c, Name(a.Run), kube.Delete{Foreground: true})))
	}
	return nil
}

// errTaken reports that another run has the same name, which contains the time and two
// random letters.
var errTaken = errors.New("another run has this name; start it again")

// create creates all objects, the Job last, which then owns the ConfigMap.
func (o *runObjects) create(ctx context.Context, c *kube.Client) error {
	owner, err := kube.ConfigMaps.Create(ctx, c, o.owner)
	if apierrors.IsAlreadyExists(err) {
		return errTaken
	}
	if err != nil {
		return fmt.Errorf("create its ConfigMap: %w", err)
	}
	o.own(owner)
	for _, one := range o.parts() {
		if err := one.Create(ctx, c); err != nil {
			return fmt.Errorf("create its %s: %w", one.Kind, err)
		}
	}
	job, err := kube.Jobs.Create(ctx, c, o.job)
	if err != nil {
		return fmt.Errorf("create its Job: %w", err)
	}
	_, err = kube.ConfigMaps.Patch(ctx, c, owner.Name, "", patch("ownerReferences",
		[]metav1.OwnerReference{{APIVersion: kube.Jobs.Group, Kind: kube.Jobs.Name, Name: job.Name, UID: job.UID}}))
	if err != nil {
		return fmt.Errorf("make the Job the owner of the run: %w", err)
	}
	return nil
}

// patch changes one field of an object's metadata.
func patch(field string, value any) map[string]any {
	return map[string]any{"metadata": map[string]any{field: value}}
}

// StopAnnotation on a run's ConfigMap makes its conductor end the run: the current
// trial ends, and the record is kept as after any other run. A conductor that is
// restarting reads it too.
const StopAnnotation = "millicore/stop"

// Stop makes a run's conductor end the run.
func Stop(ctx context.Context, c *kube.Client, run string) error {
	_, err := kube.ConfigMaps.Patch(ctx, c, Name(run), "", patch("annotations", map[string]string{StopAnnotation: time.Now().UTC().Format(time.RFC3339)}))
	if err != nil {
		return fmt.Errorf("stop run %s: %w", run, err)
	}
	return nil
}

// lookEvery is the interval in which a conductor checks for StopAnnotation.
const lookEvery = 2 * time.Second

// AwaitStop returns when the run has a StopAnnotation, or when ctx ends.
func AwaitStop(ctx context.Context, c *kube.Client, run string) {
	for ctx.Err() == nil {
		owner, err := kube.ConfigMaps.Get(ctx, c, Name(run))
		if err == nil && owner.Annotations[StopAnnotation] != "" {
			return
		}
		sleep(ctx, lookEvery)
	}
}

// Read returns the specification of a run in the cluster.
func Read(ctx context.Context, c *kube.Client, run string) (conductor.Spec, error) {
	var r conductor.Spec
	owner, err := kube.ConfigMaps.Get(ctx, c, Name(run))
	if apierrors.IsNotFound(err) {
		return r, fmt.Errorf("run %s in namespace %s: %w", run, c.Namespace, ErrGone)
	}
	if err == nil {
		r, err = conductor.ParseSpec([]byte(owner.Data[path.Base(conductor.SpecFile)]))
	}
	if err != nil {
		return r, fmt.Errorf("read the specification of run %s: %w", run, err)
	}
	return r, nil
}
