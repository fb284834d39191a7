package experiment

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Volume is a mount of a container, as of docker run --volume.
type Volume struct {
	// Source is a path of this machine, the name of a volume, or "": a new volume for
	// each container.
	Source  string
	Target  string // in the container
	Options string // "ro", or others of Docker; "": none
}

// volumeName is the syntax of names of volumes (moby volume/names/names.go).
var volumeName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]+$`)

// SplitVolume reads [SOURCE:]TARGET[:OPTIONS].
func SplitVolume(text string) (Volume, error) {
	var v Volume
	parts := strings.Split(text, ":")
	switch len(parts) {
	case 1:
		v.Target = parts[0]
	case 2:
		v.Source, v.Target = parts[0], parts[1]
	case 3:
		v.Source, v.Target, v.Options = parts[0], parts[1], parts[2]
	}
	switch {
	case v.Target == "" || len(parts) > 1 && v.Source == "" || len(parts) == 3 && v.Options == "":
		return Volume{}, fmt.Errorf("%q is not a volume; write SOURCE:TARGET or SOURCE:TARGET:ro, as in ./data:/data:ro", text)
	case !path.IsAbs(v.Target):
		return Volume{}, fmt.Errorf("%q: the path in the container, %s, must begin with /", text, v.Target)
	case path.Clean(v.Target) == "/":
		return Volume{}, fmt.Errorf("%q would replace the whole file system of the image", text)
	case v.Source != "" && !v.HasPath() && !volumeName.MatchString(v.Source):
		return Volume{}, fmt.Errorf("%q: %s is neither a path, which begins with / or ./, nor the name of a volume", text, v.Source)
	}
	for option := range strings.SplitSeq(v.Options, ",") {
		if option != "" && option != "ro" && option != "rw" && option != "z" && option != "Z" {
			return Volume{}, fmt.Errorf("%q: unknown option %q; write ro, rw, z or Z", text, option)
		}
	}
	return v, nil
}

// HasPath reports whether the source is a path of this machine, as docker run decides it.
func (v Volume) HasPath() bool {
	return strings.HasPrefix(v.Source, "/") || v.Source == "." || v.Source == ".." || strings.HasPrefix(v.Source, "./") || strings.HasPrefix(v.Source, "../")
}

// String is the volume as SplitVolume reads it.
func (v Volume) String() string {
	text := v.Target
	if v.Source != "" {
		text = v.Source + ":" + text
	}
	if v.Options != "" {
		text += ":" + v.Options
	}
	return text
}
