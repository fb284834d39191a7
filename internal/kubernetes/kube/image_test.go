package kube

import (
	"strings"
	"testing"
)

func TestImageName(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("12", 32)
	for image, want := range map[string]string{
		"millicore-node":                  "docker.io/library/millicore-node:latest",
		"millicore/millicore:1":           "docker.io/millicore/millicore:1",
		"docker.io/postgres:17":           "docker.io/library/postgres:17",
		"registry.example:5000/a/b":       "registry.example:5000/a/b:latest",
		"localhost/lab/app:dev":           "localhost/lab/app:dev",
		"redis" + digest:                  "docker.io/library/redis" + digest,
		"registry.example/a" + digest:     "registry.example/a" + digest,
		"registry.example/a:1" + digest:   "registry.example/a:1" + digest,
		"registry.example:5000/a/b:1.2.3": "registry.example:5000/a/b:1.2.3",
		"not A name":                      "not A name",
	} {
		if got := ImageName(image); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}
