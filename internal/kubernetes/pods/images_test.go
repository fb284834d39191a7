package pods

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/objects"
)

func TestDigests(t *testing.T) {
	node := corev1.Node{Status: corev1.NodeStatus{Images: []corev1.ContainerImage{
		{Names: []string{"docker.io/library/postgres@sha256:aa", "docker.io/library/postgres:17"}},
		{Names: []string{"docker.io/library/millicore-node:latest"}}}}}
	for image, want := range map[string]string{"postgres:17": "sha256:aa", "postgres:16": "postgres:16", "millicore-node": "millicore-node"} {
		if got := digestOf([]corev1.Node{{}, node}, image); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}

func TestVersionsOfNodes(t *testing.T) {
	node := func(kubelet, kernel string) corev1.Node {
		return corev1.Node{Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: kubelet, KernelVersion: kernel}}}
	}
	got := nodeVersions([]corev1.Node{node("v1.36", "6.12"), node("v1.35", "6.12"), node("v1.36", "6.12")})
	if diff := cmp.Diff(map[string]string{"kubelet": "v1.35, v1.36", "kernel": "6.12"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSampleServices(t *testing.T) {
	k := &cluster{maker: objects.New(objects.Options{Image: own, Settings: experiment.Kubernetes{Images: map[string]string{"bun": "r.example/bun:2"}}})}
	for name, want := range map[string]string{
		"go":   own + " /millicore-go --host ${host} --port ${port}",
		"node": "millicore-node --host ${host} --port ${port}",
		"bun":  "r.example/bun:2 --host ${host} --port ${port}",
	} {
		image, arguments, err := k.Workload(context.Background(), name)
		if got := image + " " + strings.Join(arguments, " "); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, _, err := k.Workload(context.Background(), "cobol"); err == nil {
		t.Error("cobol is a sample service")
	}
}
