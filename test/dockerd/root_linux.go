package dockerd

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Root is the file system of an image, of files of this machine: packages of Debian, which
// need no registry.
type Root struct {
	Programs []string          // with the libraries that they load
	Paths    []string          // files, and folders with all that is in them
	Except   *regexp.Regexp    // paths that are left out; nil: none
	Texts    map[string]string // files by their path
	Folders  []string          // empty ones, that everybody may write to
}

// library is a line of ldd(1): "libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x…)".
var library = regexp.MustCompile(`(?m)(?:=>)?\s+(/\S+) \(0x`)

// layer is the file system as a tar archive. Folders that are links of this machine, such as
// /lib, are links there too.
func (r Root) layer() (*bytes.Buffer, error) {
	l := &layer{into: new(bytes.Buffer), have: map[string]bool{}, except: r.Except}
	l.tar = tar.NewWriter(l.into)
	for _, program := range r.Programs {
		out, err := exec.Command("ldd", program).Output()
		if err != nil {
			return nil, fmt.Errorf("ldd %s: %w", program, err)
		}
		l.add(program)
		for _, found := range library.FindAllStringSubmatch(string(out), -1) {
			l.add(found[1])
		}
	}
	for _, path := range r.Paths {
		l.add(path)
	}
	for _, path := range r.Folders {
		l.parents(path)
		l.header(&tar.Header{Name: path[1:] + "/", Typeflag: tar.TypeDir, Mode: 0o777})
	}
	for path, text := range r.Texts {
		l.parents(path)
		l.header(&tar.Header{Name: path[1:], Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))})
		l.write([]byte(text))
	}
	if l.err == nil {
		l.err = l.tar.Close()
	}
	return l.into, l.err
}

// layer is an archive that is written. The first error stays.
type layer struct {
	into   *bytes.Buffer
	tar    *tar.Writer
	have   map[string]bool
	except *regexp.Regexp
	err    error
}

func (l *layer) header(h *tar.Header) {
	if name := strings.TrimSuffix(h.Name, "/"); l.err == nil && !l.have[name] {
		l.have[name] = true
		l.err = l.tar.WriteHeader(h)
	}
}

func (l *layer) write(data []byte) {
	if l.err == nil {
		_, l.err = l.tar.Write(data)
	}
}

// parents adds the folders above a path. It returns the path without links in them.
func (l *layer) parents(path string) string {
	at := "/"
	names := strings.Split(strings.Trim(filepath.Dir(path), "/"), "/")
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return name == "" }) {
		next := filepath.Join(at, name)
		if target, err := os.Readlink(next); err == nil {
			l.header(&tar.Header{Name: next[1:], Typeflag: tar.TypeSymlink, Linkname: target, Mode: 0o777})
			if next = target; !filepath.IsAbs(target) {
				next = filepath.Join(at, target)
			}
		}
		l.header(&tar.Header{Name: next[1:] + "/", Typeflag: tar.TypeDir, Mode: 0o755})
		at = next
	}
	return filepath.Join(at, filepath.Base(path))
}

// add adds a file, a link with what it points at, or a folder with all that is in it.
func (l *layer) add(path string) {
	path = l.parents(path)
	if l.err != nil || l.except != nil && l.except.MatchString(path) {
		return
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		l.err = err
	case l.have[path[1:]] && !info.IsDir(): // of a folder, only some files may be there
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := os.Readlink(path)
		if err != nil {
			l.err = err
			return
		}
		l.header(&tar.Header{Name: path[1:], Typeflag: tar.TypeSymlink, Linkname: target, Mode: 0o777})
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		if _, err := os.Stat(target); err == nil {
			l.add(target)
		}
	case info.IsDir():
		l.header(&tar.Header{Name: path[1:] + "/", Typeflag: tar.TypeDir, Mode: 0o755})
		entries, err := os.ReadDir(path)
		if err != nil {
			l.err = err
			return
		}
		for _, e := range entries {
			l.add(filepath.Join(path, e.Name()))
		}
	case info.Mode().IsRegular():
		data, err := os.ReadFile(path)
		if err != nil {
			l.err = err
			return
		}
		l.header(&tar.Header{Name: path[1:], Typeflag: tar.TypeReg, Mode: int64(info.Mode().Perm()), Size: int64(len(data))})
		l.write(data)
	}
}
