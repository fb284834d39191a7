package try

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/front/compose"
	"github.com/millicore/millicore/internal/host/commandline"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/platform"
)

// Image is a container image that is tried in place of a command, as docker run would
// start it.
type Image struct {
	Name        string   `json:"name"`
	Args        []string `json:"args,omitempty"`    // in place of its CMD; nil: its own
	Volumes     []string `json:"volumes,omitempty"` // as experiment.SplitVolume reads them, with whole paths
	HostNetwork bool     `json:"host_network,omitempty"`

	// Port is where it listens, once it has run; 0: not known.
	Port int `json:"port,omitempty"`
	// Info is what the image says of itself, once it is there.
	Info platform.ImageInfo `json:"says"`
}

// OpenImages makes the images that are tried available, takes what they say of themselves, and
// starts what runs beside them, which the platform that it returns has. note takes sentences.
func (a *Ask) OpenImages(ctx context.Context, where platform.Platform, note func(string)) (_ platform.Platform, err error) {
	if a.Image == nil {
		return where, nil
	}
	if a.Compose != nil {
		if err := a.Compose.Fetch(ctx, where); err != nil {
			return nil, err
		}
	}
	if a.Command, err = a.Image.open(ctx, where, a.Compose); err != nil {
		return nil, err
	}
	if a.Old != nil {
		if a.Against, err = a.Old.open(ctx, where, a.Compose); err != nil {
			return nil, fmt.Errorf("--against %s: %w", a.Old.Name, err)
		}
	}
	if a.Compose == nil {
		return where, nil
	}
	return a.Compose.Beside(ctx, where, note)
}

// open makes an image available, and returns the command that it runs.
func (i *Image) open(ctx context.Context, where platform.Platform, in *compose.Project) (command []string, err error) {
	if on, ok := platform.As[platform.ImageRunner](where); ok {
		if _, err := on.Fetch(ctx, i.Name); err != nil {
			return nil, err
		}
	}
	if on, ok := platform.As[platform.ImageDescriber](where); ok {
		if i.Info, err = on.Describe(ctx, i.Name); err != nil {
			return nil, err
		}
	}
	in.Override(&i.Info)
	return i.command()
}

// command is what the image runs. The error is that of an image that cannot be started.
func (i *Image) command() ([]string, error) {
	args := i.Info.Args
	if len(i.Args) > 0 {
		args = i.Args
	}
	command := slices.Concat(i.Info.Entrypoint, args)
	if len(command) == 0 {
		return nil, fmt.Errorf("the image %s has neither an ENTRYPOINT nor a CMD: write what it runs after --, as in --image %s -- ./server", i.Name, i.Name)
	}
	return command, nil
}

// found takes where the images listen, of which each was started.
func (a *Ask) found(seen []Seen) {
	if a.Image != nil {
		a.Image.Port = seen[0].Listens
	}
	if a.Old != nil {
		a.Old.Port = seen[1].Listens
	}
}

// What is the server in an error: its service, its image, or its program.
func (a *Ask) What() string {
	switch {
	case a.Compose != nil:
		return a.Compose.Service.Name
	case a.Image != nil:
		return a.Image.Name
	}
	return a.Command[0]
}

// Images says what was found of the images.
func (a *Ask) Images() (all []string) {
	if a.Image != nil {
		all = append(all, a.Image.describe(a, a.Command))
	}
	if a.Old != nil {
		all = append(all, a.Old.describe(a, a.Against))
	}
	return all
}

// short is the name of the image without its registry, its folders, its tag and its digest:
// "api" of "registry.example.com:5000/shop/api:1.4".
func (i *Image) short() string {
	name, _, _ := strings.Cut(i.Name, "@")
	name, _, _ = strings.Cut(path.Base(name), ":")
	return cmp.Or(name, i.Name)
}

// fixedPort is the port on which every later start of the image listens; 0: each is given
// another one.
func (a *Ask) fixedPort() int {
	if i := a.Image; i != nil && !i.HostNetwork && !a.takesPort() {
		return i.Port
	}
	return 0
}

// argsOf are the arguments with which a variant starts the image; nil: those of the image.
func (i *Image) argsOf(v Variant) []string {
	if v.Command != nil {
		return v.Command[len(i.Info.Entrypoint):]
	}
	return i.Args
}

// canSet reports whether a setting can be made from outside of the image: not in its
// ENTRYPOINT, which arguments follow.
func (a *Ask) canSet(s runtimes.Setting) bool {
	if a.Image == nil || s.Command == nil {
		return true
	}
	fixed := a.Image.Info.Entrypoint
	return len(s.Command) > len(fixed) && slices.Equal(s.Command[:len(fixed)], fixed)
}

// describe says what was found of an image, and where each fact comes from.
func (i *Image) describe(a *Ask, command []string) string {
	info := &i.Info
	text := fmt.Sprintf("Image %s runs %s", i.Name, commandline.Quoted(command))
	if info.User != "" && a.User == "" {
		text += " as user " + info.User
	}
	if port := i.Port; port != 0 {
		text += " and listens on port " + strconv.Itoa(port)
		switch {
		case a.Port != 0:
		case slices.Contains(info.Ports, port):
			text += " (EXPOSE)"
		case len(info.Ports) > 0:
			text += fmt.Sprintf(" (found; its EXPOSE names %s)", phrase.List(numbers(info.Ports)))
		default:
			text += " (found)"
		}
	}
	switch {
	case a.Ready.Path != "" || a.Calls.Health:
	case len(info.Health) > 0:
		text += "; ready when its HEALTHCHECK succeeds: " + commandline.Quoted(info.Health)
	}
	return text + "."
}

func numbers(all []int) []string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return texts
}
