// Package kubernetes tests --on kubernetes with a real cluster. MILLICORE_KUBECONFIG is
// its kubeconfig; test/cluster starts one. The tests create and remove their own
// namespaces, with the Pod Security level "restricted". Those that measure nothing run
// beside each other.
package kubernetes
