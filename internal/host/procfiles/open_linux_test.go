package procfiles

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// user is another user than the one of the tests.
const user = 12345

// process makes a procfs with the process 10 of a user, and returns it and the process's
// own root.
func process(t *testing.T, status string) (h *Host, top string) {
	t.Helper()
	proc := t.TempDir()
	top = filepath.Join(proc, "10", "root")
	if err := os.MkdirAll(top, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(proc, "10", "status"), []byte(status), 0o644); err != nil {
		t.Fatal(err)
	}
	return New(proc), top
}

func statusOf(real, effective int, groups string) string {
	return fmt.Sprintf("Name:\tapi\nUid:\t%d\t%d\t%d\t%d\nGid:\t%d\t%d\t%d\t%d\nGroups:\t%s\n",
		real, effective, effective, effective, real, effective, effective, effective, groups)
}

// thing is a file of the process's root.
type thing struct {
	link        string // target of a symbolic link
	mode        uint32 // with the type
	owner       int
	group       int
	folderOwner int    // of the folder in which it is
	folder      uint32 // mode of that folder
}

func (f thing) make(t *testing.T, path string) {
	t.Helper()
	folder := filepath.Dir(path)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(folder, 0o755))
	switch f.mode & unix.S_IFMT {
	case unix.S_IFLNK:
		must(os.Symlink(f.link, path))
		return
	case unix.S_IFREG:
		must(os.WriteFile(path, []byte("inside"), 0o600))
	case unix.S_IFDIR:
		must(os.Mkdir(path, 0o755))
	case unix.S_IFSOCK:
		l, err := net.Listen("unix", path)
		must(err)
		t.Cleanup(func() { l.Close() })
	case unix.S_IFCHR:
		must(unix.Mknod(path, f.mode, int(unix.Mkdev(1, 3)))) // that of /dev/null
	default:
		must(unix.Mknod(path, f.mode, 0))
	}
	must(os.Chmod(path, os.FileMode(f.mode&0o777)))
	if os.Geteuid() == 0 {
		must(os.Lchown(path, f.owner, f.group))
		must(os.Chown(folder, f.folderOwner, 0))
	}
	if f.folder != 0 {
		must(os.Chmod(folder, os.FileMode(f.folder)))
	}
}

func TestWithin(t *testing.T) {
	const (
		regular, link      = unix.S_IFREG, unix.S_IFLNK
		read, no           = "inside", ""
		asRoot, always     = true, false
		refused, forbidden = "refused", "permission"
	)
	for name, test := range map[string]struct {
		file   thing
		want   string // the text, or the kind of the error; "": any error
		inWalk string // where openat2 is missing, if that differs
		root   bool   // only root can make it
	}{
		"a file for all":                    {thing{mode: regular | 0o644}, read, read, always},
		"a file of its user":                {thing{mode: regular | 0o600, owner: user}, read, read, asRoot},
		"a file of its group":               {thing{mode: regular | 0o640, group: user}, read, read, asRoot},
		"a file of a supplementary group":   {thing{mode: regular | 0o640, group: 777}, read, read, asRoot},
		"root's file":                       {thing{mode: regular | 0o600}, forbidden, forbidden, asRoot},
		"a file of another group":           {thing{mode: regular | 0o640, group: 778}, forbidden, forbidden, asRoot},
		"in root's folder":                  {thing{mode: regular | 0o644, folder: 0o700}, forbidden, forbidden, asRoot},
		"in a folder of its user":           {thing{mode: regular | 0o644, folderOwner: user, folder: 0o700}, read, read, asRoot},
		"a named pipe":                      {thing{mode: unix.S_IFIFO | 0o644}, refused, refused, always},
		"a socket":                          {thing{mode: unix.S_IFSOCK | 0o644}, refused, refused, always},
		"a device":                          {thing{mode: unix.S_IFCHR | 0o644}, refused, refused, asRoot},
		"a folder":                          {thing{mode: unix.S_IFDIR | 0o755}, refused, refused, always},
		"a link to a file":                  {thing{mode: link, link: "../etc/good"}, read, read, always},
		"an absolute link to a file":        {thing{mode: link, link: "/etc/good"}, read, no, always},
		"a link to root's file":             {thing{mode: link, link: "../etc/secret"}, forbidden, forbidden, asRoot},
		"a link to a named pipe":            {thing{mode: link, link: "../etc/pipe"}, refused, refused, always},
		"a link out of the root":            {thing{mode: link, link: "../../../../outside"}, no, no, always},
		"an absolute link out of the root":  {thing{mode: link, link: "OUTSIDE"}, no, no, always},
		"a link to itself":                  {thing{mode: link, link: "file"}, no, no, always},
		"a link to a file that is too long": {thing{mode: link, link: "../etc/long"}, refused, refused, always},
		"a link to nothing":                 {thing{mode: link, link: "../etc/none"}, no, no, always},
	} {
		for _, walk := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, walk %t", name, walk), func(t *testing.T) {
				if test.root && os.Geteuid() != 0 {
					t.Skip("needs root, for files of several users")
				}
				h, top := process(t, statusOf(user, user, "776 777"))
				h.walk = walk
				outside := filepath.Join(filepath.Dir(top), "..", "outside")
				for path, text := range map[string]string{outside: "outside", top + "/etc/good": "inside", top + "/etc/secret": "secret", top + "/etc/long": strings.Repeat("x", 101)} {
					if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
						t.Fatal(err)
					}
				}
				if err := errors.Join(os.Chmod(top+"/etc/secret", 0o600), syscall.Mkfifo(top+"/etc/pipe", 0o644)); err != nil {
					t.Fatal(err)
				}
				if test.file.link == "OUTSIDE" {
					test.file.link = outside
				}
				test.file.make(t, top+"/jre/file")
				want := test.want
				if walk {
					want = test.inWalk
				}
				got, err := h.Within(10, "/jre/file", 100)
				_, isRefused := errors.AsType[*Refused](err)
				switch {
				case want == read && (string(got.Text) != read || err != nil),
					want != read && (err == nil || len(got.Text) > 0),
					(want == refused) != isRefused,
					(want == forbidden) != errors.Is(err, os.ErrPermission):
					t.Errorf("got %q, %v; want %q", got.Text, err, want)
				}
			})
		}
	}
}

// The rights are those of the user who chose the arguments of a program.
func TestRightsOfAProcess(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for files of several users")
	}
	for name, test := range map[string]struct {
		status string
		owner  int // of the file
		reads  bool
	}{
		"root":                                      {statusOf(0, 0, ""), 0, true},
		"root reads all":                            {statusOf(0, 0, ""), user, true},
		"a program with root's set-user-ID bit":     {statusOf(user, 0, ""), 0, false},
		"its caller's file":                         {statusOf(user, 0, ""), user, true},
		"another's set-user-ID bit":                 {statusOf(user, user+1, ""), user + 1, false},
		"root's program that has dropped rights":    {statusOf(0, user, ""), user, true},
		"root's file after the rights were dropped": {statusOf(0, user, ""), 0, false},
		"unknown": {"Name:\tapi\n", 0, false},
	} {
		for _, walk := range []bool{false, true} {
			h, top := process(t, test.status)
			h.walk = walk
			thing{mode: unix.S_IFREG | 0o600, owner: test.owner}.make(t, top+"/etc/file")
			got, err := h.Within(10, "/etc/file", 100)
			if (string(got.Text) == "inside") != test.reads || (err == nil) != test.reads {
				t.Errorf("%s, walk %t: got %q, %v", name, walk, got.Text, err)
			}
			if test.reads && got.Owner != test.owner {
				t.Errorf("%s: got the owner %d", name, got.Owner)
			}
		}
	}
}

// A link of procfs leads to a file without a path, out of every root.
func TestLinksOfProcfs(t *testing.T) {
	for _, walk := range []bool{false, true} {
		h := New("/proc")
		h.walk = walk
		name := fmt.Sprintf("/proc/%d/exe", os.Getpid())
		if got, err := h.Within(os.Getpid(), name, 1<<30); err == nil {
			t.Errorf("walk %t: read %d bytes of %s", walk, len(got.Text), name)
		}
	}
}

func TestList(t *testing.T) {
	for _, walk := range []bool{false, true} {
		h, top := process(t, statusOf(os.Getuid(), os.Geteuid(), ""))
		h.walk = walk
		for _, name := range []string{"a", "b", "c"} {
			thing{mode: unix.S_IFREG | 0o644}.make(t, top+"/tmp/"+name)
		}
		if names, err := h.List(10, "/tmp", 100); err != nil || len(names) != 3 {
			t.Errorf("walk %t: got %q, %v", walk, names, err)
		}
		if names, err := h.List(10, "/tmp", 2); err != nil || len(names) != 2 {
			t.Errorf("walk %t, 2 at most: got %q, %v", walk, names, err)
		}
		if _, err := h.List(10, "/tmp/a", 2); err == nil {
			t.Errorf("walk %t: a file was listed", walk)
		}
		if _, err := h.List(10, "/none", 2); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("walk %t: got %v", walk, err)
		}
	}
}
