package cgroup

import "bytes"

// Watch notices changes of the limit that a controller sets for a group. It keeps the
// files of the group and of its visible ancestors open: one for each group on v2 and for
// memory on v1, two for the CPU limit on v1 (quota and period).
//
// It does not notice that the process was moved to another group while the old one
// exists, nor a change of a group that is not visible: those need a new [FS.Self].
type Watch struct {
	files []watched
	buf   [groupFileRoom]byte
}

// groupFileRoom is more than a file of one or two numbers has.
const groupFileRoom = 128

// watched is an open file, and what it had when it was last read.
type watched struct {
	file file
	last []byte
}

// Watch opens the files of the limit of a controller, CPU or Memory. A change since then
// is reported by [Watch.Changed]. A group that was not located has none.
func (g Group) Watch(c Controller) *Watch {
	w := new(Watch)
	p, ok := g.Place(c).Get()
	if !ok {
		return w
	}
	for _, dir := range p.dirs() {
		for _, name := range limitFiles(c, p.Version) {
			f := g.openIn(p.Version, dir, name)
			if !f.opened {
				continue // the root of v2 has none
			}
			data, _ := f.read(w.buf[:])
			w.files = append(w.files, watched{f, append([]byte(nil), data...)})
		}
	}
	return w
}

// limitFiles are the names of the files that hold the limit of a group.
func limitFiles(c Controller, version Version) []string {
	switch {
	case c == CPU && version == V2:
		return []string{"cpu.max"}
	case c == CPU:
		return []string{"cpu.cfs_quota_us", "cpu.cfs_period_us"}
	case c == Memory && version == V2:
		return []string{"memory.max"}
	case c == Memory:
		return []string{"memory.limit_in_bytes"}
	}
	return nil
}

// Changed reports whether a file has other content than at the opening, or can no longer
// be read, as after the removal of its group. It reads each file with one system call and
// does not allocate unless a reading fails. The new limit is for a new [FS.Self] to read.
func (w *Watch) Changed() bool {
	for i := range w.files {
		data, err := w.files[i].file.read(w.buf[:])
		if err != nil || !bytes.Equal(data, w.files[i].last) {
			return true
		}
	}
	return false
}

// Files is the number of files, and so of system calls of a [Watch.Changed] that returns
// false.
func (w *Watch) Files() int { return len(w.files) }

// Close closes the files.
func (w *Watch) Close() {
	for i := range w.files {
		_ = w.files[i].file.close(nil) // it was only read
	}
	w.files = nil
}

// Tracker is for reading a limit of this process again and again. It locates the process's
// group only when the limit may have changed: after a change that its [Watch] notices, and
// every so many looks, because the process may have been moved.
//
// It is not for use by several goroutines at once, and must be closed.
type Tracker struct {
	fs    FS
	c     Controller
	every int
	watch *Watch // nil: the group is to be located
	looks int    // since it was located
}

// Track returns a Tracker of a controller's limit, CPU or Memory, which locates the group
// at least at each of every looks. It opens nothing yet.
func (f FS) Track(c Controller, every int) *Tracker { return &Tracker{fs: f, c: c, every: every} }

// Look reports whether the limit may have changed since the last look, with the group then
// located as by [FS.Self]. Otherwise it costs one system call for each file of the Watch.
func (t *Tracker) Look() (g Group, changed bool, err error) {
	t.looks++
	if t.watch != nil && t.looks < t.every && !t.watch.Changed() {
		return Group{}, false, nil
	}
	t.Close()
	t.looks = 0
	g, err = t.fs.Self(t.c)
	t.watch = g.Watch(t.c) // before the caller reads the limit: what changes meanwhile is noticed by the next look
	return g, true, err
}

// Files is the number of files that are open.
func (t *Tracker) Files() int {
	if t.watch == nil {
		return 0
	}
	return t.watch.Files()
}

// Close closes the files. The next look locates the group.
func (t *Tracker) Close() {
	if t.watch != nil {
		t.watch.Close()
		t.watch = nil
	}
}
