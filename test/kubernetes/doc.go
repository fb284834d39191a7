// Package kubernetes tests --on kubernetes against a real cluster, whose
// kubeconfig MILLICORE_KUBECONFIG names: test/cluster makes one. Everything is
// made in namespaces of the tests' own, of the Pod Security level "restricted",
// and removed.
package kubernetes
