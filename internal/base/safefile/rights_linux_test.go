package safefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A thread that took another user's rights has root's again.
func TestRightsAreReturned(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to take another user's rights")
	}
	with := Rights{12345, 12345, []int{777}}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reads := func() error {
		f, err := os.Open(secret)
		if err == nil {
			f.Close()
		}
		return err
	}
	done := make(chan error)
	go func() {
		if err := with.Do(reads); !errors.Is(err, os.ErrPermission) {
			done <- fmt.Errorf("with the user's rights: %v", err)
			return
		}
		done <- reads() // perhaps on another thread: all must have the rights
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		status, err := os.ReadFile("/proc/self/task/" + task.Name() + "/status")
		if err == nil && !strings.Contains(string(status), "\nUid:\t0\t0\t0\t0\n") {
			t.Errorf("thread %s has other rights:\n%s", task.Name(), status)
		}
	}
}

// The first user who can replace a part of a path controls it.
func TestOf(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for files of several users")
	}
	const owner = 12345
	top, err := os.MkdirTemp("", "rights-") // TempDir is in a folder that only root may enter
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(top)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	folder := func(name string, mode os.FileMode, uid, gid int) {
		t.Helper()
		name = filepath.Join(top, name)
		must(os.MkdirAll(name, 0o755))
		must(os.Chown(name, uid, gid))
		must(os.Chmod(name, mode))
	}
	must(os.Chmod(top, 0o755))
	folder("closed", 0o700, 0, 0)
	folder("closed/users", 0o755, owner, owner)
	folder("users", 0o755, owner, owner)
	folder("users/roots", 0o755, 0, 0)
	folder("roots", 0o755, 0, 0)
	folder("everyone", 0o777, 0, 0)
	folder("shared", os.ModeSticky|0o777, 0, 0)
	folder("shared/users", 0o755, owner, owner)
	folder("group", 0o775, 0, 777)
	must(os.Symlink(filepath.Join(top, "users"), filepath.Join(top, "link")))
	must(os.Symlink("../roots", filepath.Join(top, "roots/back")))
	must(os.Symlink("/etc", filepath.Join(top, "shared/planted")))
	must(os.Lchown(filepath.Join(top, "shared/planted"), owner, owner))
	must(os.Symlink("loop", filepath.Join(top, "loop")))
	must(os.WriteFile(filepath.Join(top, "roots/given"), nil, 0o644))
	must(os.Chown(filepath.Join(top, "roots/given"), owner, owner))
	for path, want := range map[string]struct {
		user, group int
		shared      bool
	}{
		"new":                {0, 0, false},
		"closed/users/new":   {0, 0, false},
		"roots/new":          {0, 0, false},
		"roots/new/newer":    {0, 0, false},
		"roots/back/new":     {0, 0, false},
		"roots/given":        {owner, owner, false},
		"users":              {owner, owner, false},
		"users/new":          {owner, owner, false},
		"users/roots/new":    {owner, owner, false},
		"link/new":           {owner, owner, false},
		"everyone/new":       {nobody, nobody, false},
		"group/new":          {nobody, 777, false},
		"shared/new":         {0, 0, true},
		"shared/new/newer":   {0, 0, false},
		"shared/users/new":   {owner, owner, false},
		"shared/planted/new": {owner, owner, false},
		"shared":             {0, 0, false},
	} {
		of, shared, err := controls(filepath.Join(top, path))
		if err != nil || of.User != want.user || of.Group != want.group || shared != want.shared {
			t.Errorf("%s: got %+v, shared %t, %v; want %+v", path, of, shared, err, want)
		}
	}
	if _, _, err := controls(filepath.Join(top, "loop/new")); err == nil {
		t.Error("a link to itself was followed")
	}
}

// In a folder of all users, such as /tmp, a link that another user made is not followed,
// even if the kernel would (fs.protected_symlinks).
func TestFilesInAFolderOfAllUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for files of several users")
	}
	top, err := os.MkdirTemp("", "rights-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(top)
	shared, outside := filepath.Join(top, "shared"), filepath.Join(t.TempDir(), "outside")
	if err := errors.Join(os.Chmod(top, 0o755), os.Mkdir(shared, 0o777), os.Chmod(shared, os.ModeSticky|0o777), os.WriteFile(outside, []byte("kept"), 0o644), os.Symlink(outside, filepath.Join(shared, "link")), os.Lchown(filepath.Join(shared, "link"), 12345, 12345)); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(shared, "link"), []byte("x"), 0o644); err == nil {
		t.Error("a link was followed")
	}
	if text, err := os.ReadFile(outside); string(text) != "kept" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	for _, path := range []string{"a/b/c", "a/b/d"} {
		if err := MkdirAll(filepath.Join(shared, path), 0o755); err != nil {
			t.Error(err)
		}
	}
	if err := WriteFile(filepath.Join(shared, "a/b/file"), []byte("x"), 0o644); err != nil {
		t.Error(err)
	}
}

func TestInvoker(t *testing.T) {
	for name, c := range map[string]struct {
		euid     int
		uid, gid string
		want     bool
	}{
		"sudo":                 {0, "1000", "1000", true},
		"no sudo":              {0, "", "", false},
		"root with sudo":       {0, "0", "0", false},
		"not root":             {1000, "1000", "1000", false},
		"a uid that is a word": {0, "me", "1000", false},
		"a negative uid":       {0, "-1", "1000", false},
		"no gid":               {0, "1000", "", false},
		"a negative gid":       {0, "1000", "-1", false},
	} {
		_, _, ok := invoker(c.euid, func(key string) string { return map[string]string{"SUDO_UID": c.uid, "SUDO_GID": c.gid}[key] })
		if ok != c.want {
			t.Errorf("%s: %v", name, ok)
		}
	}
}
