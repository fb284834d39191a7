package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Group is a control group: on v2 one directory, on v1 a directory in the
// hierarchy of each controller. It holds no open files. The zero Group is not
// located, and everything about it is unknown.
type Group struct {
	fs      FS
	located bool
	places  [controllers]Value[Place]
}

// Place returns where the files of a controller are. It is absent if the host does not
// have the controller, and unreadable if the group is not visible from here.
func (g Group) Place(c Controller) Value[Place] {
	switch {
	case !g.located:
		return UnreadableValue[Place](errNotLocated)
	case c >= controllers:
		return UnreadableValue[Place](fmt.Errorf("no such controller: %s", c))
	}
	return g.places[c]
}

// Setting returns the content of a file of a controller without its last line end, for a
// limit that has no method of its own. The file has a name for each version; "" where the
// version does not have it.
func (g Group) Setting(c Controller, v1, v2 string) Value[string] {
	p, ok := g.Place(c).Get()
	if !ok {
		return answer[string](g.Place(c).Err())
	}
	name := v2
	if p.Version == V1 {
		name = v1
	}
	if name == "" {
		return Value[string]{}
	}
	data, err := g.fs.read(p.Dir, name)
	if err != nil || data == nil {
		return answer[string](err)
	}
	return ValueOf(strings.TrimSuffix(string(data), "\n"))
}

// dirs returns the group's directory and those of its visible ancestors,
// innermost first.
func (p Place) dirs() []string {
	dirs := []string{p.Dir}
	for dir := p.Dir; dir != p.Top && dir != "/"; {
		dir = path.Dir(dir)
		dirs = append(dirs, dir)
	}
	return dirs
}

// Above returns the group whose directory of a controller is dir, such as Dir of
// [CPULimit]: the group itself, or a visible ancestor. On v1 the other controllers are
// those of the ancestor as many levels above, and unreadable if their paths differ.
//
// It is an error if dir is not one of these.
func (g Group) Above(c Controller, dir string) (Group, error) {
	p, ok := g.Place(c).Get()
	below, found := strings.CutPrefix(p.Dir, dir)
	if !ok || !found || !slices.Contains(p.dirs(), dir) {
		return Group{}, fmt.Errorf("%q is neither the control group %s nor above it", dir, p.Dir)
	}
	for i := range g.places {
		q, ok := g.places[i].Get()
		if !ok {
			continue
		}
		if above, found := strings.CutSuffix(q.Dir, below); found && len(above) >= len(q.Top) {
			q.Dir = above
			g.places[i] = ValueOf(q)
			continue
		}
		g.places[i] = UnreadableValue[Place](fmt.Errorf("the control group %s of controller %s has another path than %s", q.Dir, Controller(i), p.Dir))
	}
	return g, nil
}

// hidden reports whether the group has ancestors that are not visible: outside of the
// cgroup namespace, or above the mounted part of a hierarchy. Only
// the root of a v1 hierarchy has release_agent, and only the root of the v2
// hierarchy has no cgroup.events.
func (f FS) hidden(p Place) bool {
	name, onRoot := "release_agent", true
	if p.Version == V2 {
		name, onRoot = "cgroup.events", false
	}
	err := exists(f.real(path.Join(p.Top, name)))
	return (err == nil) != onRoot
}

// read reads a file of a group's directory, and returns nil if the kernel does
// not have the file for this group. The directory being missing is an error.
func (f FS) read(dir, name string) ([]byte, error) {
	data, err := readFile(f.real(path.Join(dir, name)), groupFile)
	if err != nil {
		return nil, f.explain(dir, err)
	}
	return data, nil
}

// explain interprets an error of a file in dir: nil if the file is absent, ErrGone if
// the group is gone, and otherwise the error with a hint what to do.
func (f FS) explain(dir string, err error) error {
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing || isRemoved(err):
		if errors.Is(exists(f.real(dir)), fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
		if missing {
			return nil
		}
		return fmt.Errorf("%w; the group was created again or has lost the file, open it again", err)
	case errors.Is(err, errors.ErrUnsupported):
		return nil // the kernel has the file, but the feature is switched off
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; run as root or as the group's owner", err)
	}
	return err
}
