// Package procfiles reads files of processes that belong to other users. Such a process may
// want to stop its reader, to exhaust its memory, or to have a file read that its own user
// may not read. So everything here is bounded:
//
//   - a file of a process's own root is opened beneath that root, with the rights of the
//     process's user, and only if it is a regular file;
//   - a file has a maximum size, and a list a maximum length;
//   - a process has a maximum time;
//   - of an executable, the headers and tables are checked before they are read.
//
// What breaks a bound is a Refused: a reason not to look at the process any further. The
// package decides nothing about what it reads.
package procfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/host/proc"
)

// Refused is the error of a file that is not read because no honest process needs it to
// be. Its text follows "could not inspect PID NAME: ".
type Refused struct {
	Why string
	// Late: the time of the process is over. Another process can have the same file and be
	// read.
	Late bool
}

func (r *Refused) Error() string { return r.Why }

func refuse(format string, args ...any) error { return &Refused{Why: fmt.Sprintf(format, args...)} }

func late(format string, args ...any) error {
	return &Refused{Why: fmt.Sprintf(format, args...), Late: true}
}

// Lasts reports whether the next reading of the same file would have the same result.
func Lasts(err error) bool {
	refused, ok := errors.AsType[*Refused](err)
	return err == nil || ok && !refused.Late
}

// Host reads the processes of a procfs. It is not safe for concurrent use.
type Host struct {
	root    string
	taken   map[int]*taken // by pid
	process time.Duration  // the most that a process takes
	walk    bool           // do not use openat2
}

// taken is what reading one process has taken.
type taken struct {
	time time.Duration
	err  error // why nothing more is read
}

// mostOfProcess bounds the time in which a process is read. The first reading of a large
// executable from a slow disk takes about a second.
const mostOfProcess = 3 * time.Second

// New returns a reader of the procfs that is mounted at a path.
func New(procfs string) *Host {
	h := &Host{root: procfs, process: mostOfProcess}
	h.Begin()
	return h
}

// Begin starts a scan: every process has the whole time again.
func (h *Host) Begin() { h.taken = map[int]*taken{} }

// Path is a file of a process.
func (h *Host) Path(pid int, name string) string {
	return filepath.Join(h.root, strconv.Itoa(pid), name)
}

// Root is where the procfs is mounted.
func (h *Host) Root() string { return h.root }

// of returns what a process has taken, or why it is not read any more.
func (h *Host) of(pid int) (*taken, error) {
	t := h.taken[pid]
	if t == nil {
		t = &taken{}
		h.taken[pid] = t
	}
	return t, t.err
}

// Do runs an operation on a process that can block: a page of its memory, or a file, may be
// on a file system that does not answer. After the process's time f goes on in the
// background, so f must not use what the caller uses.
func Do[T any](h *Host, pid int, f func() (T, error)) (T, error) {
	var none T
	t, err := h.of(pid)
	if err != nil {
		return none, err
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	began := time.Now()
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	timer := time.NewTimer(h.process - t.time)
	defer timer.Stop()
	select {
	case r := <-done:
		t.time += time.Since(began)
		return r.value, r.err
	case <-timer.C:
		t.err = late("it could not be read within %s", h.process)
		return none, t.err
	}
}

const (
	// mostMemory bounds cmdline and environ: the kernel accepts 6 MiB (execve(2)). A process
	// can change what they show.
	mostMemory = 8 << 20
	// mostMaps bounds maps: 65,530 lines (vm.max_map_count) of 256 bytes.
	mostMaps = 16 << 20
	// mostText bounds the other files of a process. The tables of sockets are the only long
	// ones, and begin with those that listen.
	mostText = 16 << 20
)

// Read reads a file of /proc/PID, such as status. Of a table of sockets only the first
// 16 MiB are read.
func (h *Host) Read(pid int, name string) ([]byte, error) {
	most := int64(mostMemory)
	switch name {
	case "maps":
		most = mostMaps
	case "cmdline", "environ":
	default: // the kernel has the text itself
		return readFile(h.Path(pid, name), mostText)
	}
	return Do(h, pid, func() ([]byte, error) {
		text, err := readFile(h.Path(pid, name), most+1)
		if int64(len(text)) > most {
			return nil, refuse("its %s has more than %d MiB", name, most>>20)
		}
		return text, err
	})
}

// Names lists a folder of /proc/PID, such as task, in no order: at most so many names.
func (h *Host) Names(pid int, folder string, most int) ([]string, error) {
	dir, err := os.Open(h.Path(pid, folder))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// mostDescriptors bounds how many descriptors of a process are looked at.
const mostDescriptors = 4096

// Sockets calls each for the inodes of the sockets that a process has open.
func (h *Host) Sockets(pid int, each func(inode string)) error {
	t, err := h.of(pid)
	if err != nil {
		return err
	}
	began := time.Now()
	defer func() { t.time += time.Since(began) }()
	names, err := h.Names(pid, "fd", mostDescriptors)
	for _, name := range names {
		link, _ := os.Readlink(h.Path(pid, filepath.Join("fd", name)))
		if inode, ok := strings.CutPrefix(link, "socket:["); ok {
			each(strings.TrimSuffix(inode, "]"))
		}
	}
	return err
}

// Memory reads a process's memory at an address. That needs the permissions of ptrace, but
// does not stop the process.
func (h *Host) Memory(pid int, address uint64, size int) ([]byte, error) {
	return Do(h, pid, func() ([]byte, error) {
		file, err := os.Open(h.Path(pid, "mem"))
		if err != nil {
			return nil, err
		}
		defer file.Close()
		data := make([]byte, size)
		_, err = file.ReadAt(data, int64(address))
		return data, err
	})
}

// Stat describes the file of a link of /proc/PID, such as exe.
func (h *Host) Stat(pid int, link string) (fs.FileInfo, error) {
	return Do(h, pid, func() (fs.FileInfo, error) { return os.Stat(h.Path(pid, link)) })
}

// Executable parses the executable of a process, which is reached even if it is in another
// mount namespace or was deleted. use must keep no part of the ELF.
func Executable[T any](h *Host, pid int, use func(*ELF) (T, error)) (T, error) {
	return Do(h, pid, func() (value T, err error) {
		file, err := os.Open(h.Path(pid, "exe"))
		if err != nil {
			return value, err
		}
		defer file.Close()
		err = Parse(file, func(f *ELF) error {
			value, err = use(f)
			return err
		})
		return value, err
	})
}

// File is a file of a process's own root.
type File struct {
	Text  []byte
	Owner int // user id; -1: not known
}

// Within reads a regular file of a process's own root, of at most so many bytes, with the
// rights of the process's user. Symbolic links cannot lead out of that root.
func (h *Host) Within(pid int, name string, most int64) (File, error) {
	return Do(h, pid, func() (File, error) {
		file, err := h.open(pid, name, false)
		if err != nil {
			return File{}, err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return File{}, err
		}
		text, err := io.ReadAll(io.LimitReader(file, most+1))
		if int64(len(text)) > most {
			return File{}, refuse("%s has more than %d bytes", Short(name), most)
		}
		return File{text, ownerOf(info)}, err
	})
}

// List lists a folder of a process's own root as Within reads a file: at most so many names.
func (h *Host) List(pid int, name string, most int) ([]string, error) {
	return Do(h, pid, func() ([]string, error) {
		dir, err := h.open(pid, name, true)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		names, err := dir.Readdirnames(most)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return names, err
	})
}

// open opens a regular file, or a folder, of a process's own root.
func (h *Host) open(pid int, name string, folder bool) (*os.File, error) {
	text, err := readFile(h.Path(pid, "status"), mostText)
	if err != nil {
		return nil, err
	}
	with, err := rightsOf(proc.ParseCredentials(text))
	if err != nil {
		return nil, err
	}
	return openBeneath(h.Path(pid, "root"), name, with, folder, h.walk)
}

// wanted checks the kind of a file before it is opened for reading: to open a device can
// have an effect, and to open a named pipe can wait.
func wanted(name string, mode fs.FileMode, folder bool) error {
	switch {
	case folder && mode.IsDir(), !folder && mode.IsRegular():
		return nil
	case folder:
		return refuse("%s is %s, not a folder", Short(name), kindOf(mode))
	}
	return refuse("%s is %s, not a regular file", Short(name), kindOf(mode))
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a regular file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a link"
}

// Short is the name of a file for a message: a process can choose one of 4,096 bytes.
func Short(name string) string {
	const most = 80
	if len(name) <= most {
		return name
	}
	return "…" + strings.ToValidUTF8(name[len(name)-most:], "")
}

// rightsOf returns the rights of the user who controls a process. That is the real user: a
// program with the set-user-ID bit has the effective one of its file, and its caller chooses
// its arguments. A process of root that has taken another user's rights counts as that user.
func rightsOf(c proc.Credentials) (safefile.Rights, error) {
	switch {
	case c.User < 0 || c.RealUser < 0 || c.Group < 0 || c.RealGroup < 0:
		return safefile.Rights{}, errors.New("its user is not known")
	case c.RealUser == 0:
		return safefile.Rights{User: c.User, Group: c.Group, Groups: c.Groups}, nil
	}
	return safefile.Rights{User: c.RealUser, Group: c.RealGroup, Groups: c.Groups}, nil
}
