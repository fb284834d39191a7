package kube

import "github.com/distribution/reference"

// ImageName is the name of an image as container runtimes and nodes write it: with
// the registry and the tag that a short name omits, as in
// docker.io/library/redis:latest. An invalid name is returned unchanged.
func ImageName(image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return image
	}
	return reference.TagNameOnly(named).String()
}
