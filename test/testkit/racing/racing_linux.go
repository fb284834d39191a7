// Package racing has a user who replaces the files with which root works by links, for
// tests that root changes nothing outside of the user's folder.
package racing

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/test/testkit"
)

const (
	// word makes a test's program the attacker.
	word = "millicore-racing"
	// attacker is the user, who has no files.
	attacker = 12345
)

func init() {
	if len(os.Args) == 4 && os.Args[1] == word {
		race(os.Args[2], os.Args[3])
		os.Exit(0)
	}
}

// longest is the longest pause of the attacker, in doublings of a microsecond: about as long
// as the longest work of a test.
const longest = 10

// race swaps the folder "run" and the file "file" in it with links to the victim's, until
// its input ends. It pauses for random times of all magnitudes, so that the work of a test is
// caught at its first step, and at each later one: without pauses the many steps of a long
// work never all find the folder.
func race(folder, victim string) {
	var over atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		over.Store(true)
	}()
	swap := func(a, b string) error {
		return unix.Renameat2(unix.AT_FDCWD, filepath.Join(folder, a), unix.AT_FDCWD, filepath.Join(folder, b), unix.RENAME_EXCHANGE)
	}
	if err := errors.Join(os.Symlink(victim, filepath.Join(folder, "aside")), swap("run", "aside"), swap("run", "aside")); err != nil {
		fmt.Fprintln(os.Stderr, "the attacker cannot replace a folder by a link:", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	for i := 0; !over.Load(); i++ {
		swap("run", "aside")
		if i%3 == 0 { // the file in the folder too, when it is there
			os.Symlink(filepath.Join(victim, "file"), filepath.Join(folder, "run/planted"))
			swap("run/file", "run/planted")
			os.Remove(filepath.Join(folder, "run/file"))
		}
		// A sleep takes 50 µs longer than it should, so this waits.
		pause := time.Duration(rand.Int64N(int64(time.Microsecond) << rand.IntN(longest+1)))
		for began := time.Now(); time.Since(began) < pause && !over.Load(); {
		}
	}
}

// Links lets root work on the file "file" of a folder 1,000 times (in short mode 200 times),
// while the folder's user replaces both by links to files of root's. It fails if a file of
// root's was changed. work may fail then: the user can always spoil its own folder. Before
// that, work runs once without the user, and must not fail.
func Links(t *testing.T, work func(path string) error) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: only root has anything that the user may not change")
	}
	top, err := os.MkdirTemp("", "racing-") // TempDir is in a folder that only root may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	folder, victim := filepath.Join(top, "users"), filepath.Join(top, "victim")
	for _, err := range []error{
		os.Chmod(top, 0o755), os.MkdirAll(filepath.Join(folder, "run"), 0o755), os.Mkdir(victim, 0o755),
		os.WriteFile(filepath.Join(victim, "file"), []byte("root's"), 0o600),
		os.Chown(folder, attacker, attacker), os.Chown(filepath.Join(folder, "run"), attacker, attacker),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := work(filepath.Join(folder, "run", "file")); err != nil {
		t.Fatalf("without an attacker: %v", err)
	}
	want := listing(t, victim)
	cmd := exec.Command("/proc/self/exe", word, folder, victim)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: attacker, Gid: attacker}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	testkit.StartReady(t, cmd, "ready")
	defer in.Close()
	done, rounds := 0, testkit.Samples(200, 1000, 1000)
	for range rounds {
		if work(filepath.Join(folder, "run", "file")) == nil {
			done++
		}
		if got := listing(t, victim); got != want {
			t.Fatalf("a file of root's was changed: got\n%swant\n%s", got, want)
		}
	}
	t.Logf("the work was done in %d of %d rounds", done, rounds)
}

// listing describes the files of a folder: owner, mode and content.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var stat unix.Stat_t
		if err := unix.Lstat(path, &stat); err != nil {
			return err
		}
		text := []byte(nil)
		if e.Type().IsRegular() {
			text, err = os.ReadFile(path)
		}
		fmt.Fprintf(&b, "%s %d:%d %o %q\n", path, stat.Uid, stat.Gid, stat.Mode, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
