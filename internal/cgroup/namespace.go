package cgroup

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// mostLevel is how many groups of one level are searched for the own one.
const mostLevel = 1 << 12

// outside locates a group of which mountinfo and /proc/PID/cgroup do not name all levels: one
// outside of the reader's cgroup namespace, in a mount that begins above it. That is the host's
// /sys/fs/cgroup in a container. There the kernel writes a /.. for each level above the root of
// the namespace (cgroup_namespaces(7)):
//
//	0::/../../pod1/c1                  /proc/PID/cgroup
//	… 0:26 /../../.. /host/cgroup …    mountinfo
//
// Of the three levels between the two roots the group shares one, whose name is that of the
// first level of the reader's own group.
func (f FS) outside(c Controller, groups []membership, mounts []mount) (Place, bool) {
	version, group, _ := membershipOf(c, groups)
	climbs, rest := climb(group)
	for _, m := range mounts {
		depth, none := climb(m.root)
		if m.version != version || version == V1 && !hasItem(m.controllers, c.String()) || none != "" || depth <= climbs {
			continue
		}
		own, ok := f.own(c, m.point, depth)
		if !ok {
			continue
		}
		names := strings.Split(own, "/")[:depth-climbs]
		p := Place{Version: version, Dir: path.Join(m.point, path.Join(names...), rest), Top: path.Clean(m.point)}
		if exists(f.real(p.Dir)) == nil {
			return p, true
		}
	}
	return Place{}, false
}

// climb splits a path into the number of /.. at its beginning and the rest, "" for none.
func climb(group string) (levels int, rest string) {
	for rest = group; rest == "/.." || strings.HasPrefix(rest, "/../"); levels++ {
		rest = rest[len("/.."):]
	}
	return levels, strings.TrimSuffix(rest, "/")
}

// own is where the root of this process's cgroup namespace is below a mount that begins a number
// of levels above it; ok is false if it was not found.
func (f FS) own(c Controller, point string, depth int) (dir string, ok bool) {
	if known, ok := f.owns.Load(point); ok {
		return known.(string), known != ""
	}
	dir, ok = f.search(c, point, depth)
	f.owns.Store(point, dir)
	return dir, ok
}

// search finds the only group of a level in which this process is, or in which it is in the
// group that its /proc/self/cgroup names.
func (f FS) search(c Controller, point string, depth int) (string, bool) {
	self, pid := "self", os.Getpid()
	if f.root != "" {
		self, pid = "1", 1
	}
	data, err := readFile(f.real("/proc/"+self+"/cgroup"), procFile)
	if err != nil {
		return "", false
	}
	groups, err := parseMemberships(data)
	if err != nil {
		return "", false
	}
	_, below, _ := membershipOf(c, groups)
	level := []string{""}
	for n := 0; n < depth; n++ {
		var next []string
		for _, dir := range level {
			entries, err := os.ReadDir(f.real(path.Join(point, dir)))
			if err != nil {
				continue // it may have been removed meanwhile
			}
			for _, e := range entries {
				if e.IsDir() {
					next = append(next, path.Join(dir, e.Name()))
				}
			}
		}
		if level = next; len(level) > mostLevel {
			return "", false
		}
	}
	for _, dir := range level {
		pids, _ := Processes(filepath.Join(f.real(path.Join(point, dir)), filepath.FromSlash(below)))
		for _, one := range pids {
			if one == pid {
				return dir, true
			}
		}
	}
	return "", false
}
