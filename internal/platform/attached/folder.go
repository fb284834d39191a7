package attached

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// folderPrefix begins the names of temporary folders. The name is only where Sweep looks:
// anybody can give a folder that name.
const folderPrefix = "millicore-load-"

// markFile in a temporary folder says that Millicore made it. Its process holds a lock on
// the file, as on a ledger of package group: the kernel releases it when the process ends
// in any way, and every process of the machine sees it, whatever its pid namespace.
const markFile = ".millicore"

// mark is the content of the file.
type mark struct {
	PID    int    `json:"pid"`   // in the namespace of the process
	Device uint64 `json:"dev"`   // of the folder, so that a copy of it has no valid mark
	Inode  uint64 `json:"inode"` // likewise
}

// Folder is a folder in the system's folder for temporary files, for a record that is not
// kept. If its process is killed, Sweep removes it.
type Folder struct {
	Path string
	lock *os.File
}

// NewFolder makes a folder.
func NewFolder() (*Folder, error) {
	path, err := os.MkdirTemp("", folderPrefix+"*")
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: path}
	if err := f.mark(); err != nil {
		return nil, errors.Join(fmt.Errorf("mark %s: %w", path, err), f.Remove())
	}
	return f, nil
}

// mark writes and locks the mark. It gets its name only after it was locked.
func (f *Folder) mark() (err error) {
	own, err := identify(f.Path)
	if err != nil {
		return err
	}
	text, err := json.Marshal(own)
	if err != nil {
		return err
	}
	name := filepath.Join(f.Path, markFile)
	if f.lock, err = os.OpenFile(name+".new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	if err := unix.Flock(int(f.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	if _, err := f.lock.Write(text); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// identify is the mark of a folder for this process.
func identify(path string) (mark, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return mark{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return mark{PID: os.Getpid(), Device: uint64(stat.Dev), Inode: stat.Ino}, nil //nolint:unconvert // it is an int32 on macOS
}

// Remove removes the folder with its content.
func (f *Folder) Remove() error {
	err := os.RemoveAll(f.Path)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// Sweep removes the marked folders of this user whose processes have ended. It returns
// their names, and the processes of the others.
func Sweep() (removed []string, living []int, err error) {
	top, err := os.OpenRoot(os.TempDir())
	if err != nil {
		return nil, nil, err
	}
	defer top.Close()
	all, err := fs.ReadDir(top.FS(), ".")
	if err != nil {
		return nil, nil, err
	}
	var errs []error
	for _, one := range all {
		if !strings.HasPrefix(one.Name(), folderPrefix) || !one.IsDir() {
			continue
		}
		pid, over := ended(top, one.Name())
		switch {
		case pid == 0:
		case !over:
			living = append(living, pid)
		default:
			if err := top.RemoveAll(one.Name()); err != nil {
				errs = append(errs, err)
				continue
			}
			removed = append(removed, filepath.Join(os.TempDir(), one.Name()))
		}
	}
	return removed, living, errors.Join(errs...)
}

// ended reports whether the process of a folder has ended; pid is 0 if the folder has no
// mark of this user, which is then not Millicore's.
func ended(top *os.Root, name string) (pid int, over bool) {
	folder, err := top.Lstat(name)
	if err != nil || !folder.IsDir() || !mine(folder) {
		return 0, false
	}
	file, err := top.OpenFile(filepath.Join(name, markFile), os.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || !mine(info) {
		return 0, false
	}
	text, err := io.ReadAll(io.LimitReader(file, 4096))
	var m mark
	if err != nil || json.Unmarshal(text, &m) != nil || m.PID <= 0 {
		return 0, false
	}
	own, err := identify(filepath.Join(top.Name(), name))
	if err != nil || m.Device != own.Device || m.Inode != own.Inode {
		return 0, false
	}
	if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return m.PID, false
	}
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil || stat.Nlink == 0 {
		return 0, false // its process removed it and released the lock in between
	}
	return m.PID, true
}

// mine reports whether a file belongs to this user, and nobody else may write it.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
