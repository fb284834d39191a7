package cgroup

import (
	"fmt"
	"io/fs"
	"path"
)

// kind is what is known of a file before it is read.
type kind struct {
	usual int // bytes to make room for at first

	// Bytes that are too many: far more than any such file has, and little
	// enough for whatever stands in its place.
	most int

	// The kernel hands out all of it in a reading that has the room, so that
	// there is no need for another one to see the end.
	atOnce bool
}

// The kinds of files. Of those in /proc, which come line by line, mountinfo is
// long where there are many mounts.
var (
	procFile  = kind{usual: 4 << 10, most: 16 << 20}
	groupFile = kind{usual: 256, most: 64 << 10, atOnce: true}
)

// file is a file of a group that a Reader reads over and over. The zero file
// is absent.
type file struct {
	fs      FS
	dir     string  // the group's directory
	path    string  // where the file really is
	version Version // 0 if the place of the file is not known

	handle handle
	opened bool
	err    error // of a file that is not opened: why it is unreadable, nil if absent
}

// open opens a file of a controller, which has a name for each version; ""
// where the version does not have it.
func (g Group) open(c Controller, v1, v2 string) file {
	p, ok := g.Place(c).Get()
	if !ok {
		return file{err: g.Place(c).Err()}
	}
	name := v2
	if p.Version == V1 {
		name = v1
	}
	if name == "" {
		return file{fs: g.fs, dir: p.Dir, version: p.Version}
	}
	return g.openIn(p.Version, p.Dir, name)
}

// openIn opens a file of a directory of the group or of an ancestor of it.
func (g Group) openIn(version Version, dir, name string) file {
	f := file{fs: g.fs, dir: dir, path: g.fs.real(path.Join(dir, name)), version: version}
	var err error
	if f.handle, err = openHandle(f.path); err != nil {
		f.err = f.fs.explain(f.dir, err)
		return f
	}
	f.opened = true
	return f
}

// read reads the file into buf and returns what is in it, nil if the file is
// absent. It does not allocate unless it fails.
func (f *file) read(buf []byte) ([]byte, error) {
	if !f.opened {
		return nil, f.err
	}
	n, err := f.handle.pread(buf)
	if err != nil {
		return nil, f.fs.explain(f.dir, &fs.PathError{Op: "read", Path: f.path, Err: err})
	}
	if n == len(buf) {
		return nil, f.about(malformed("longer than the kernel's file can be", buf))
	}
	return buf[:n], nil
}

// about says which file an error is about.
func (f *file) about(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.path, err)
}

// readInto reads a file of one number into v.
func readInto[T ~int64](f *file, buf []byte, v *Value[T]) error {
	data, err := f.read(buf)
	if err != nil || data == nil {
		*v = answer[T](err)
		return err
	}
	n, err := parseNumber(data)
	if err != nil {
		err = f.about(err)
		*v = answer[T](err)
		return err
	}
	*v = ValueOf(T(n))
	return nil
}

// answer is absent, or unreadable if there is an error.
func answer[T any](err error) Value[T] {
	if err != nil {
		return UnreadableValue[T](err)
	}
	return Value[T]{}
}

// close closes the file; whatever is read from then on is unreadable because
// of reason.
func (f *file) close(reason error) error {
	if !f.opened {
		f.err = reason
		return nil
	}
	f.opened, f.err = false, reason
	return f.handle.close()
}
