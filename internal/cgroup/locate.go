package cgroup

import (
	"bytes"
	"fmt"
	"path"
	"sort"
	"strings"
)

// membership is a line of /proc/PID/cgroup: the group that a process is in, in
// one hierarchy.
type membership struct {
	unified     bool   // the v2 hierarchy
	controllers string // of a v1 hierarchy, separated by commas
	path        string // relative to the root of the reader's cgroup namespace
}

// usualHierarchies is enough for most hosts: v1 has one for each of about a dozen
// controllers.
const usualHierarchies = 16

// parseMemberships parses /proc/PID/cgroup.
//
//	hierarchy-ID:controller-list:cgroup-path\n
//
// For example 5:cpuacct,cpu,cpuset:/daemons. The v2 hierarchy has ID 0 and no
// controllers. The path may contain colons; nothing in it is escaped, and a
// kernel never lets a newline into it. man 7 cgroups, "/proc files".
func parseMemberships(b []byte) ([]membership, error) {
	all := make([]membership, 0, usualHierarchies)
	text := string(b) // once, for all parts of it
	for n := 1; len(b) > 0; n++ {
		line, rest, err := nextLine(b)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		start := len(text) - len(b)
		b = rest
		id, after, ok1 := strings.Cut(text[start:start+len(line)], ":")
		list, group, ok2 := strings.Cut(after, ":")
		if !ok1 || !ok2 || !strings.HasPrefix(group, "/") {
			return nil, fmt.Errorf("line %d: %w", n, malformed("want ID:controllers:/path", line))
		}
		all = append(all, membership{unified: id == "0" && list == "", controllers: list, path: group})
	}
	return all, nil
}

// mount is a mount of a cgroup file system.
type mount struct {
	version     Version
	controllers string // the super options, separated by commas; v1 has its controllers among them
	root        string // the group that is mounted, relative to the root of the reader's cgroup namespace
	point       string // where it is mounted
}

// parseMounts parses /proc/PID/mountinfo and returns the mounts of cgroup file
// systems in the file's order.
//
//	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
//	(1)(2)(3)   (4)   (5)      (6)      (7)   (8) (9)   (10)         (11)
//
// (4) the root of the mount within the file system, (5) the mount point, (7)
// zero or more optional fields, (8) a hyphen that ends them, (9) the type of
// the file system, (11) the super options. Space, tab, newline and backslash
// are escaped as \ and three octal digits. man 5 proc_pid_mountinfo.
//
// A line may pass 64 KiB: the super options of overlay mounts list all layers.
func parseMounts(b []byte) ([]mount, error) {
	all := make([]mount, 0, usualHierarchies)
	for n := 1; len(b) > 0; n++ {
		line, rest, err := nextLine(b)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		b = rest
		m, ok, err := parseMount(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if ok {
			all = append(all, m)
		}
	}
	return all, nil
}

// parseMount parses a line of mountinfo; ok is false for other file systems.
func parseMount(line []byte) (m mount, ok bool, err error) {
	before, after, found := bytes.Cut(line, []byte(" - "))
	if !found {
		return mount{}, false, malformed("no separator", line)
	}
	kind, after, _ := bytes.Cut(after, []byte(" "))
	switch string(kind) {
	case "cgroup":
		m.version = V1
	case "cgroup2":
		m.version = V2
	default:
		return mount{}, false, nil
	}
	_, options, found := bytes.Cut(after, []byte(" "))
	var fields [6][]byte // (1) to (6)
	for i := range fields {
		if !found {
			return mount{}, false, malformed("too few fields", line)
		}
		fields[i], before, found = bytes.Cut(before, []byte(" "))
	}
	m.controllers = string(options)
	if m.root, err = unescape(fields[3]); err != nil {
		return mount{}, false, err
	}
	if m.point, err = unescape(fields[4]); err != nil {
		return mount{}, false, err
	}
	if !path.IsAbs(m.root) || !path.IsAbs(m.point) {
		return mount{}, false, malformed("root or mount point not absolute", line)
	}
	return m, true, nil
}

// unescape undoes the octal escapes of mountinfo.
func unescape(b []byte) (string, error) {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b), nil
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			out = append(out, b[i])
			continue
		}
		if i+3 >= len(b) {
			return "", malformed("escape cut short", b)
		}
		c := 0
		for _, digit := range b[i+1 : i+4] {
			if digit < '0' || digit > '7' {
				return "", malformed("escape not octal", b)
			}
			c = c*8 + int(digit-'0')
		}
		if c > 0xff {
			return "", malformed("escape above a byte", b)
		}
		out = append(out, byte(c))
		i += 3
	}
	return string(out), nil
}

// Place is where the files of a group's controller are.
type Place struct {
	Version Version
	Dir     string // the group's directory
	Top     string // the mount point: the highest ancestor that can be seen
}

// Path is the path of a group relative to the mount: "/" is the mount's own group. dir is Dir or
// above it.
func (p Place) Path(dir string) string {
	return path.Join("/", strings.TrimPrefix(dir, strings.TrimSuffix(p.Top, "/")))
}

// candidates returns the places at which the group of a controller may be
// seen, best first, or none and no error where the host does not have the
// controller. It is an error if the host has it and it cannot be seen.
func candidates(c Controller, groups []membership, mounts []mount) ([]Place, error) {
	version, group, ok := membershipOf(c, groups)
	if !ok {
		return nil, nil
	}
	matching := make([]mount, 0, 1)
	for _, m := range mounts {
		if m.version == version && (version == V2 || hasItem(m.controllers, c.String())) {
			matching = append(matching, m)
		}
	}
	if len(matching) == 0 {
		return nil, fmt.Errorf("cgroup %s controller %s: %w: it is not mounted; mount it, or run where it is mounted", version, c, ErrOutside)
	}
	// The mount with the shortest root shows most ancestors.
	if len(matching) > 1 {
		sort.SliceStable(matching, func(i, j int) bool {
			return len(matching[i].root) < len(matching[j].root)
		})
	}
	var places []Place
	for _, m := range matching {
		if rest, ok := below(group, m.root); ok {
			places = append(places, Place{Version: version, Dir: path.Join(m.point, rest), Top: path.Clean(m.point)})
		}
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("cgroup %s controller %s: group %q: %w: it is not below the mount at %s; run in the host's cgroup namespace",
			version, c, group, ErrOutside, matching[0].point)
	}
	return places, nil
}

// membershipOf returns the hierarchy and the group that a controller of the
// process belongs to. A controller that is attached to a v1 hierarchy is not
// available in v2, so its line wins over the v2 line. man 7 cgroups, "Cgroups
// v2".
func membershipOf(c Controller, groups []membership) (Version, string, bool) {
	for _, g := range groups {
		if c != Unified && !g.unified && hasItem(g.controllers, c.String()) {
			return V1, g.path, true
		}
	}
	for _, g := range groups {
		if g.unified {
			return V2, g.path, true
		}
	}
	return 0, "", false
}

// below returns the part of group below root, which is "/" for root itself. ok is
// false if group is not below root, or if root begins with /..: that is a directory
// outside of the cgroup namespace, whose name is not known here.
func below(group, root string) (rest string, ok bool) {
	rest = group
	if root != "/" {
		if rest, ok = strings.CutPrefix(group, root); !ok {
			return "", false
		}
		if rest == "" {
			return "/", true
		}
		if rest[0] != '/' {
			return "", false
		}
	}
	for _, name := range strings.Split(rest, "/") {
		if name == ".." {
			return "", false
		}
	}
	return rest, true
}

// mountOf returns the mount that dir lies in. Of two mounts at one point the
// later hides the earlier.
func mountOf(dir string, mounts []mount) (mount, bool) {
	best, found := mount{}, false
	for _, m := range mounts {
		if _, ok := below(dir, path.Clean(m.point)); ok && (!found || len(m.point) >= len(best.point)) {
			best, found = m, true
		}
	}
	return best, found
}

// hasItem reports whether list, separated by commas, contains item.
func hasItem(list, item string) bool {
	for more := true; more; {
		var first string
		if first, list, more = strings.Cut(list, ","); first == item {
			return true
		}
	}
	return false
}
