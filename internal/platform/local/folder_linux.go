package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/platform"
)

// folder is a folder for the files of units.
type folder struct {
	local *local
	path  string

	once sync.Once
	err  error // of the one removing
}

// Path is the absolute path of the folder.
func (f *folder) Path() string { return f.path }

// Remove removes the folder with its content.
func (f *folder) Remove() error {
	f.once.Do(func() {
		f.err = f.local.run.RemoveFolder(f.path)
		f.local.drop(f)
	})
	return f.err
}

func (f *folder) end() error { return f.Remove() }

// Folder makes an empty folder that user can enter, in dir or, if user cannot reach
// dir, in the system's folder for temporary files.
func (l *local) Folder(dir string, user *platform.User) (platform.Folder, error) {
	mode := fs.FileMode(0o700)
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	// Another user who controls dir could replace the folder by a link.
	if of, err := safefile.RightsOf(filepath.Join(dir, "data")); err != nil || of.Credential() != nil {
		dir = os.TempDir()
	}
	if user != nil {
		mode = 0o711
		if shut := shutTo(dir, user.UID, user.GID); shut != "" {
			l.warn(fmt.Sprintf("user %s cannot enter %s: its data is in %s during the run; choose another folder with --out", user.Name, shut, os.TempDir()))
			dir = os.TempDir()
		}
		if shut := shutTo(dir, user.UID, user.GID); shut != "" {
			return nil, fmt.Errorf("make a folder for user %s: it cannot enter %s; set TMPDIR or --out to a folder that every user can enter", user.Name, shut)
		}
	}
	path, err := l.run.Folder(dir, mode)
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	f := &folder{local: l, path: path}
	if err := l.add(f); err != nil {
		return nil, errors.Join(err, f.Remove())
	}
	return f, nil
}

// shutTo returns the first folder on the way to dir, dir included, that a user
// with one group may not enter, by its mode; "" if there is none.
func shutTo(dir string, uid, gid int) string {
	if uid == 0 {
		return ""
	}
	var way []string
	for d := dir; ; d = filepath.Dir(d) {
		way = append(way, d)
		if d == filepath.Dir(d) {
			break
		}
	}
	for i := len(way) - 1; i >= 0; i-- {
		info, err := os.Stat(way[i])
		if err != nil {
			return "" // creating something there will fail with the reason
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			continue
		}
		bit := os.FileMode(0o001)
		switch {
		case int(stat.Uid) == uid:
			bit = 0o100
		case int(stat.Gid) == gid:
			bit = 0o010
		}
		if info.Mode().Perm()&bit == 0 {
			return way[i]
		}
	}
	return ""
}
