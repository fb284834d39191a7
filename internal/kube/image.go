package kube

import "github.com/distribution/reference"

// ImageName is the name of an image as container runtimes and nodes write it: with
// the registry and the tag that a short one leaves out, as in
// docker.io/library/redis:latest. A name that is none is given as it is.
func ImageName(image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return image
	}
	return reference.TagNameOnly(named).String()
}
