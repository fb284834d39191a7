package remote

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/conductor"
	"github.com/millicore/millicore/internal/kube"
)

// Start makes the objects of a run. After an error nothing of it is left, as far
// as the server can be asked.
func Start(ctx context.Context, c *kube.Client, a *Asked) error {
	p, err := newProof(a.Run, time.Now(), a.longest())
	if err != nil {
		return err
	}
	o, err := a.objects(c.Namespace, p)
	if err != nil {
		return err
	}
	err = o.create(ctx, c)
	if errors.Is(err, errTaken) { // and is not ours to remove
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

// errTaken says that another run has the name, which has a time and two letters
// of chance in it.
var errTaken = errors.New("another run has this name; start once more")

// create makes all objects, the Job last, which then owns the ConfigMap.
func (o *objects) create(ctx context.Context, c *kube.Client) error {
	owner, err := kube.ConfigMaps.Create(ctx, c, o.owner)
	if apierrors.IsAlreadyExists(err) {
		return errTaken
	}
	if err != nil {
		return fmt.Errorf("make its ConfigMap: %w", err)
	}
	o.own(owner)
	for _, one := range []struct {
		kind string
		make func() error
	}{
		{"Secret", made(ctx, c, kube.Secrets, o.secret)},
		{"ServiceAccount", made(ctx, c, kube.ServiceAccounts, o.account)},
		{"Role", made(ctx, c, kube.Roles, o.role)},
		{"RoleBinding", made(ctx, c, kube.RoleBindings, o.binding)},
		{"NetworkPolicy", made(ctx, c, kube.NetworkPolicies, o.policy)},
	} {
		if err := one.make(); err != nil {
			return fmt.Errorf("make its %s: %w", one.kind, err)
		}
	}
	job, err := kube.Jobs.Create(ctx, c, o.job)
	if err != nil {
		return fmt.Errorf("make its Job: %w", err)
	}
	_, err = kube.ConfigMaps.Patch(ctx, c, owner.Name, "", patch("ownerReferences",
		[]metav1.OwnerReference{{APIVersion: kube.Jobs.Group, Kind: kube.Jobs.Name, Name: job.Name, UID: job.UID}}))
	if err != nil {
		return fmt.Errorf("have the Job's time to live hold for all: %w", err)
	}
	return nil
}

func made[T any](ctx context.Context, c *kube.Client, kind kube.Kind[T], o *T) func() error {
	return func() error {
		_, err := kind.Create(ctx, c, o)
		return err
	}
}

// patch changes one field of an object's metadata.
func patch(field string, value any) map[string]any {
	return map[string]any{"metadata": map[string]any{field: value}}
}

// StopAnnotation on a run's ConfigMap tells its conductor to end the run: the
// trial under way ends, and the record is kept as after any other run. It is
// there for a conductor that is being started again, too.
const StopAnnotation = "millicore/stop"

// Stop tells a run's conductor to end the run.
func Stop(ctx context.Context, c *kube.Client, run string) error {
	_, err := kube.ConfigMaps.Patch(ctx, c, Name(run), "", patch("annotations", map[string]string{StopAnnotation: time.Now().UTC().Format(time.RFC3339)}))
	if err != nil {
		return fmt.Errorf("stop run %s: %w", run, err)
	}
	return nil
}

// lookEvery is how often a conductor looks whether it is to end.
const lookEvery = 2 * time.Second

// AwaitStop returns when a run's conductor is to end the run, or with ctx.
func AwaitStop(ctx context.Context, c *kube.Client, run string) {
	for ctx.Err() == nil {
		owner, err := kube.ConfigMaps.Get(ctx, c, Name(run))
		if err == nil && owner.Annotations[StopAnnotation] != "" {
			return
		}
		sleep(ctx, lookEvery)
	}
}

// Read gives what was asked of a run that is in the cluster.
func Read(ctx context.Context, c *kube.Client, run string) (conductor.Run, error) {
	var r conductor.Run
	owner, err := kube.ConfigMaps.Get(ctx, c, Name(run))
	if apierrors.IsNotFound(err) {
		return r, fmt.Errorf("run %s in namespace %s: %w", run, c.Namespace, ErrGone)
	}
	if err == nil {
		r, err = conductor.ParseRun([]byte(owner.Data[path.Base(conductor.RunFile)]))
	}
	if err != nil {
		return r, fmt.Errorf("read what run %s is: %w", run, err)
	}
	return r, nil
}
