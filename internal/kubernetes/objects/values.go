package objects

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/platform"
)

// The values of a unit's variables that must not be shown are in a Secret, to which its
// pods refer. Whoever can read Deployments or pods of the namespace does not see them.

// Values holds what must not be shown of a unit, by keys in the unit's Secret.
type Values map[string]string

// keep adds a value, and refers to it. The Secret's name is set by Refer.
func (v Values) keep(value string) *corev1.EnvVarSource {
	key := fmt.Sprintf("value-%d", len(v)+1)
	v[key] = value
	return keyOf("", key)
}

// keyOf refers to a key of a Secret. A pod waits for a Secret that does not exist.
func keyOf(name, key string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}}
}

// Refer sets the name of the Secret of the values in a Deployment.
func Refer(d *appsv1.Deployment, name string) {
	for _, v := range d.Spec.Template.Spec.Containers[0].Env {
		if v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil && v.ValueFrom.SecretKeyRef.Name == "" {
			v.ValueFrom.SecretKeyRef.Name = name
		}
	}
}

// hides reports whether the value of a variable must not be shown: the unit says so, or
// it has a secret now that its names are replaced, such as the URL of a database.
func hides(u *platform.UnitSpec, name, value string) bool {
	return slices.Contains(u.Hidden, name) || secret.Text(value) != value
}

// hideWords replaces words of a command that have secrets by variables, which the
// kubelet expands.
func hideWords(words []string, secrets Values) (shown []string, env []corev1.EnvVar) {
	masked := secret.Words(words)
	for i, word := range words {
		if masked[i] == word {
			shown = append(shown, literal(word))
			continue
		}
		v := corev1.EnvVar{Name: fmt.Sprintf("MILLICORE_ARGUMENT_%d", i), ValueFrom: secrets.keep(word)}
		shown, env = append(shown, "$("+v.Name+")"), append(env, v)
	}
	return shown, env
}
