package group

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform/guard"
)

// ledger is the file in which a run records what it makes, before it makes it. A living
// run holds a lock on it. The kernel releases the lock when the process ends in any
// way, so a ledger that can be locked belongs to a dead run.
//
// It has one JSON line per entry. Inode numbers identify directories: in one boot the
// kernel does not reuse them for the groups of a hierarchy.
type ledger struct {
	file *os.File
	path string
}

// entry is a line; exactly one field is set.
type entry struct {
	Begin *beginning `json:"begin,omitempty"`
	Make  string     `json:"make,omitempty"` // a directory, before it is made
	Made  *made      `json:"made,omitempty"`
	Leaf  *moved     `json:"leaf,omitempty"`
	// Folder is a folder for data: first without its inode, before it is made, and then
	// with it.
	Folder *made `json:"folder,omitempty"`
	// Escaped is a process of a unit that was seen outside of its group.
	Escaped *guard.Process `json:"escaped,omitempty"`
}

type beginning struct {
	Boot string    `json:"boot"` // the kernel's id of this boot: groups do not survive a boot
	PID  int       `json:"pid"`
	Time time.Time `json:"time"`
}

type made struct {
	Dir   string `json:"dir"`
	Inode uint64 `json:"inode"`
}

// moved records, in advance, that the processes in Home move into Leaf, and that
// Controllers are enabled in Home.
type moved struct {
	Home        string   `json:"home"`
	Leaf        string   `json:"leaf"`
	Controllers []string `json:"controllers,omitempty"`
}

// DefaultState is the folder of the caller's ledgers. It does not survive a reboot if
// the system has such a folder.
func DefaultState() string {
	if os.Geteuid() == 0 {
		return "/run/millicore"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "millicore")
	}
	return filepath.Join(os.TempDir(), "millicore-"+strconv.Itoa(os.Geteuid()))
}

// stateFolder makes the folder of the ledgers if needed. Processes in the groups of a
// ledger are killed, so no other user may write there.
func stateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	var stat unix.Stat_t
	if err := unix.Lstat(dir, &stat); err != nil {
		return &fs.PathError{Op: "lstat", Path: dir, Err: err}
	}
	if !info.IsDir() || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s does not belong to user %d alone; remove it, or chmod it to 0700", dir, os.Geteuid())
	}
	return nil
}

// newLedger makes and locks the ledger of a run. It gets its name only after it was
// locked.
func newLedger(state, name string) (*ledger, error) {
	if err := stateFolder(state); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(state, name+".new-*")
	if err != nil {
		return nil, err
	}
	l := &ledger{file: file, path: filepath.Join(state, name+ledgerSuffix)}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		err = l.write(entry{Begin: &beginning{Boot: proc.BootID(), PID: os.Getpid(), Time: time.Now()}})
	}
	if err == nil {
		err = os.Rename(file.Name(), l.path)
	}
	if err != nil {
		os.Remove(file.Name())
		file.Close()
		return nil, fmt.Errorf("begin the ledger %s: %w", l.path, err)
	}
	return l, nil
}

const ledgerSuffix = ".ledger"

func (l *ledger) write(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	n, err := l.file.Write(append(line, '\n'))
	if err != nil && n > 0 {
		err = errors.Join(err, l.takeBack(int64(n)))
	}
	return err
}

// takeBack removes the part of a line that still fitted on a full disk: together with the
// next line it could not be read.
func (l *ledger) takeBack(n int64) error {
	at, err := l.file.Seek(-n, io.SeekCurrent)
	if err != nil {
		return err
	}
	return l.file.Truncate(at)
}

// mkdir records a new directory in the ledger and makes it.
func (l *ledger) mkdir(dir string) error {
	if err := l.write(entry{Make: dir}); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	inode, err := inodeOf(dir)
	if err == nil {
		err = l.write(entry{Made: &made{Dir: dir, Inode: inode}})
	}
	if err != nil {
		return errors.Join(err, os.Remove(dir))
	}
	return nil
}

func inodeOf(dir string) (uint64, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(dir, &stat); err != nil {
		return 0, &fs.PathError{Op: "lstat", Path: dir, Err: err}
	}
	return stat.Ino, nil
}

// close releases the ledger at the end of the run. It removes the file if everything in
// it was removed.
func (l *ledger) close(removed bool) error {
	var err error
	if removed {
		err = os.Remove(l.path)
	}
	return errors.Join(err, l.file.Close())
}

// book is the content of a ledger.
type book struct {
	begin  beginning
	maybe  []string // directories that may have been made
	made   []made
	leaves []moved

	escaped []guard.Process

	folders map[string]made // by name; without an inode: may have been made
}

// parseLedger reads a ledger. It ignores a last line without an end, of a run that was
// killed while it wrote: its action was not done.
func parseLedger(text []byte) (book, error) {
	var b book
	for n := 1; ; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return b, nil
		}
		text = rest
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return book{}, fmt.Errorf("line %d: %w", n, err)
		}
		switch {
		case e.Begin != nil:
			b.begin = *e.Begin
		case e.Make != "":
			b.maybe = append(b.maybe, e.Make)
		case e.Made != nil:
			b.made = append(b.made, *e.Made)
		case e.Leaf != nil:
			b.leaves = append(b.leaves, *e.Leaf)
		case e.Escaped != nil:
			b.escaped = append(b.escaped, *e.Escaped)
		case e.Folder != nil:
			if b.folders == nil {
				b.folders = map[string]made{}
			}
			b.folders[e.Folder.Dir] = *e.Folder
		}
	}
}
