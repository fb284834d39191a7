package launch

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// Paths in the conductor's pod.
const (
	given = "/etc/millicore"     // has conductor.SpecFile and the others
	kept  = "/var/lib/millicore" // the volume that the record is in

	conductorContainer = "conductor"
)

// mostData bounds the data of a ConfigMap and of a Secret.
const mostData = 1 << 20

// Bounds of a run without a client.
const (
	// tries is how often the conductor is restarted, by its kubelet or, after an
	// eviction, by the Job. It is not restarted if the experiment fails: the conductor
	// reports that in its state.
	tries      int32 = 6
	ttlSeconds int32 = 3600 // of a Job that ended
	graceS     int64 = 60   // from TERM to KILL, for the current trial and its services
)

// runObjects are the objects that the command line creates, in this order. The ConfigMap
// owns the others.
type runObjects struct {
	owner   *corev1.ConfigMap
	secret  *corev1.Secret
	account *corev1.ServiceAccount // nil: an administrator made it
	role    *rbacv1.Role
	binding *rbacv1.RoleBinding
	network []*networkingv1.NetworkPolicy
	job     *batchv1.Job
}

// objects makes the objects. The owners are set when the ConfigMap exists and has a UID.
func (a *Request) objects(namespace string, p proof) (*runObjects, error) {
	spec, err := json.MarshalIndent(a.spec(namespace), "", "  ")
	if err != nil {
		return nil, err
	}
	supplies, err := json.Marshal(a.Experiment.InputSet())
	if err != nil {
		return nil, err
	}
	if size := len(spec) + len(a.Experiment.Source); size > mostData-slack {
		return nil, fmt.Errorf("the experiment file has %d KiB, more than a ConfigMap holds (1 MiB); shorten it", size>>10)
	}
	if size := len(supplies) + len(p.certificate) + len(p.key) + len(p.tokenKey); size > mostData-slack {
		return nil, fmt.Errorf("the bodies of the requests have %d KiB in base64, more than a Secret holds (1 MiB); send smaller ones (body_file), or use --on docker", size>>10)
	}
	meta := func() metav1.ObjectMeta { return a.meta(Name(a.Run), kube.PartConductor) }
	yes := true
	o := &runObjects{
		owner: &corev1.ConfigMap{ObjectMeta: meta(), Data: map[string]string{
			path.Base(conductor.SpecFile): string(spec), path.Base(conductor.ExperimentFile): a.Experiment.Source}},
		secret: &corev1.Secret{ObjectMeta: meta(), Type: corev1.SecretTypeOpaque, Immutable: &yes, Data: map[string][]byte{
			path.Base(conductor.CertFile): p.certificate, path.Base(conductor.KeyFile): p.key,
			path.Base(conductor.TokenKeyFile): []byte(p.tokenKey), path.Base(conductor.SuppliesFile): supplies}},
		role: &rbacv1.Role{ObjectMeta: meta(), Rules: rules(a.Run, a.Experiment)},
		binding: &rbacv1.RoleBinding{ObjectMeta: meta(),
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: Name(a.Run)},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: a.account(), Namespace: namespace}}},
		network: a.policies(),
		job:     a.job(),
	}
	if a.account() == Name(a.Run) {
		o.account = &corev1.ServiceAccount{ObjectMeta: meta()}
	}
	return o, nil
}

// account is the account of the conductor's pod. The right to read kubelets reaches all
// namespaces, so that an administrator must bind it to an account that exists before the
// run. A run without that right gets its own account.
func (a *Request) account() string {
	if a.Experiment.Kubernetes.NodeAgent {
		return Name(a.Run)
	}
	return kube.ConductorAccount
}

// slack is reserved for names and labels.
const slack = 4 << 10

// own makes the ConfigMap, as the server returned it, the owner of all other objects.
// It does not set blockOwnerDeletion, which needs another permission on some clusters.
func (o *runObjects) own(owner *corev1.ConfigMap) {
	ref := []metav1.OwnerReference{OwnedBy(owner)}
	for _, one := range append(o.parts(), kube.Jobs.Object(o.job)) {
		one.SetOwnerReferences(ref)
	}
}

// parts are the objects between the ConfigMap and the Job, in the order of their creation.
func (o *runObjects) parts() []kube.Object {
	all := []kube.Object{kube.Secrets.Object(o.secret)}
	if o.account != nil {
		all = append(all, kube.ServiceAccounts.Object(o.account))
	}
	all = append(all, kube.Roles.Object(o.role), kube.RoleBindings.Object(o.binding))
	for _, p := range o.network {
		all = append(all, kube.NetworkPolicies.Object(p))
	}
	return all
}

// all are all objects.
func (o *runObjects) all() []kube.Object {
	return slices.Concat([]kube.Object{kube.ConfigMaps.Object(o.owner)}, o.parts(), []kube.Object{kube.Jobs.Object(o.job)})
}

// OwnedBy is the reference to a run's ConfigMap as the owner of an object.
func OwnedBy(owner *corev1.ConfigMap) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: kube.ConfigMaps.Name, Name: owner.Name, UID: owner.UID}
}

// meta is the metadata of an object of the run.
func (a *Request) meta(name, part string) metav1.ObjectMeta { return a.maker().Meta(name, part, nil) }

// job is the Job of the conductor's pod.
func (a *Request) job() *batchv1.Job {
	tries, ttl, longest := tries, ttlSeconds, int64(a.longest()/time.Second)
	return &batchv1.Job{ObjectMeta: a.meta(Name(a.Run), kube.PartConductor), Spec: batchv1.JobSpec{
		BackoffLimit: &tries, TTLSecondsAfterFinished: &ttl, ActiveDeadlineSeconds: &longest,
		Template: a.pod(),
	}}
}

// pod is the conductor's.
func (a *Request) pod() corev1.PodTemplateSpec {
	k := &a.Experiment.Kubernetes
	pod := a.maker().Own(kube.PartConductor, conductorContainer, k.Conductor)
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	for _, name := range stays {
		pod.Annotations[name[0]] = name[1]
	}
	s := &pod.Spec
	s.RestartPolicy, s.TerminationGracePeriodSeconds = corev1.RestartPolicyOnFailure, new(graceS)
	s.ServiceAccountName, s.AutomountServiceAccountToken = a.account(), new(true)
	s.SecurityContext.FSGroup = s.SecurityContext.RunAsGroup // the group reads the Secret and writes to the claim
	record := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	if k.RecordClaim != "" {
		record = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: k.RecordClaim}}
	}
	s.Volumes = []corev1.Volume{
		{Name: "run", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: Name(a.Run)}}}},
		{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: Name(a.Run), DefaultMode: new(int32(0o440))}}},
		{Name: "record", VolumeSource: record},
		{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	c := &s.Containers[0]
	c.Command = []string{"/millicore", "conduct", "--dir", given}
	c.Ports = []corev1.ContainerPort{{Name: "conductor", ContainerPort: kube.ConductorPort, Protocol: corev1.ProtocolTCP}}
	c.Env = []corev1.EnvVar{
		fromField("POD_IP", "status.podIP"), fromField("POD_NAME", "metadata.name"), fromField("NODE_NAME", "spec.nodeName")}
	c.VolumeMounts = []corev1.VolumeMount{
		{Name: "run", MountPath: path.Join(given, path.Dir(conductor.SpecFile)), ReadOnly: true},
		{Name: "secret", MountPath: path.Join(given, path.Dir(conductor.CertFile)), ReadOnly: true},
		{Name: "record", MountPath: kept, SubPath: a.subPath()},
		{Name: "tmp", MountPath: "/tmp"},
	}
	return pod
}

// subPath separates the records of several runs in one claim.
func (a *Request) subPath() string {
	if a.Experiment.Kubernetes.RecordClaim == "" {
		return ""
	}
	return a.Run
}

// stays are annotations that keep autoscalers of nodes from moving a pod.
var stays = [][2]string{
	{"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"},
	{"karpenter.sh/do-not-disrupt", "true"},
}

func fromField(name, field string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}}
}
