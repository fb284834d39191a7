package platform

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// nobody is a user without rights.
var nobody = &User{Name: "nobody", UID: 65534, GID: 65534}

// makers make something in a folder.
var makers = map[string]func(dir, name string, user *User) error{
	"folder": MakeDir,
	"file":   func(dir, name string, user *User) error { return MakeFile(dir, name, "text", user) },
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give away what it made")
	}
}

// root is a folder that only its owner can write to.
func root(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWhatIsMadeBelongsToItsUserAlone(t *testing.T) {
	users := map[*User]int{nil: os.Geteuid()}
	if os.Geteuid() == 0 {
		users[nobody] = nobody.UID
	}
	for user, uid := range users {
		dir := root(t)
		for what, make := range makers {
			if err := make(dir, what, user); err != nil {
				t.Fatal(err)
			}
		}
		for what, mode := range map[string]fs.FileMode{"folder": fs.ModeDir | 0o700, "file": 0o600} {
			info, err := os.Lstat(filepath.Join(dir, what))
			if err != nil || info.Mode() != mode || int(info.Sys().(*syscall.Stat_t).Uid) != uid {
				t.Errorf("%s for %v: %v, %v; want %v of user %d", what, user, info, err, mode, uid)
			}
		}
		if text, err := os.ReadFile(filepath.Join(dir, "file")); string(text) != "text" {
			t.Errorf("the file has %q, %v", text, err)
		}
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	for what, make := range makers {
		dir, victim := root(t), filepath.Join(t.TempDir(), "victim")
		for link, target := range map[string]string{"dangling": victim, "folder": t.TempDir(), "file": os.Args[0]} {
			if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
			if err := make(dir, link, nil); !errors.Is(err, fs.ErrExist) {
				t.Errorf("make a %s where a link to a %s is: %v", what, link, err)
			}
		}
		if _, err := os.Lstat(victim); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("make a %s: made what the link leads to: %v", what, err)
		}
		if err := make(filepath.Join(dir, "folder"), "x", nil); !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP) {
			t.Errorf("make a %s in a folder that is a link: %v", what, err)
		}
	}
}

func TestNoOwnerChangesWhereOthersCanWrite(t *testing.T) {
	needRoot(t)
	for what, make := range makers {
		for name, spoil := range map[string]func(dir string) error{
			"its user's":            func(dir string) error { return os.Chown(dir, nobody.UID, -1) },
			"writable to all":       func(dir string) error { return os.Chmod(dir, 0o777) },
			"for temporary files":   func(dir string) error { return os.Chmod(dir, 0o777|fs.ModeSticky) },
			"writable to its group": func(dir string) error { return os.Chmod(dir, 0o770) },
		} {
			dir := root(t)
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			if err := make(dir, "x", nobody); err == nil {
				t.Errorf("gave away a %s in a folder that is %s", what, name)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("a folder that is %s: left %v", name, left)
			}
		}
	}
}
