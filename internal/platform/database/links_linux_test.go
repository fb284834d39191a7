package database

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// While root prepares a database, processes of the database's user may already run,
// and replace files that root is about to write, read, chown or remove by links. No
// file of root may be changed.

// attackWord makes this test's program the attacker: attackWord, the attack, the
// folder that data folders appear in, and what the links lead to.
const attackWord = "attack"

func init() {
	if len(os.Args) == 5 && os.Args[1] == attackWord {
		attack(os.Args[2], os.Args[3], os.Args[4])
		os.Exit(0)
	}
}

// attacks are what the attacker does in each data folder until it is done.
var attacks = map[string]func(folder, victim string) (done bool){
	"password": func(folder, victim string) bool {
		return os.Symlink(filepath.Join(victim, "kept"), filepath.Join(folder, "password")) == nil
	},
	"data folder": func(folder, victim string) bool { return supplant(filepath.Join(folder, "data"), victim) },
	"copy":        func(folder, victim string) bool { return supplant(filepath.Join(folder, "data/base"), victim) },
	"template": func(folder, victim string) bool {
		base, link := filepath.Join(folder, "data/base"), filepath.Join(folder, "data/z")
		os.Symlink(filepath.Join(victim, "base"), link)
		for range 101 { // an odd number, so that the link is not always left in the same place
			unix.Renameat2(unix.AT_FDCWD, base, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
		}
		return false
	},
}

// supplant replaces a folder by a link.
func supplant(dir, victim string) bool {
	return os.Rename(dir, dir+"-aside") == nil && os.Symlink(victim, dir) == nil
}

// attack is the attacker's main. A folder that is there when it begins is a
// template, which only the attack of that name is about.
func attack(what, dir, victim string) {
	var over atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		over.Store(true)
	}()
	done := map[string]bool{}
	for _, name := range names(dir) {
		done[name] = what != "template"
	}
	fmt.Println("ready")
	attempts := 0
	for !over.Load() {
		for _, name := range names(dir) {
			if !done[name] {
				done[name] = attacks[what](filepath.Join(dir, name), victim)
				attempts++
			}
		}
	}
	fmt.Println(attempts)
}

func names(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, _ := f.Readdirnames(-1)
	return all
}

// under starts the attacker as a user. The function that it returns ends it, and
// gives the number of its attempts.
func under(t *testing.T, what, dir, victim string, user *platform.User) (end func() int) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", attackWord, what, dir, victim)
	cmd.SysProcAttr = attributes(user)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Start(t, cmd)
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the attacker: %q, %v", line, err)
	}
	return func() (attempts int) {
		in.Close()
		if _, err := fmt.Fscan(lines, &attempts); err != nil {
			t.Errorf("the attacker: %v", err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the attacker: %v", err)
		}
		return attempts
	}
}

// newVictim makes a folder of root that other users may not read: the file kept, and a
// folder with files of the same names as in that of fakePostgres.
func newVictim(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "victim")
	if err := os.MkdirAll(filepath.Join(dir, "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	files := []string{"kept"}
	for i := range baseFiles {
		files = append(files, fmt.Sprintf("base/%d", i+1))
	}
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("root's"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const baseFiles = 20

// fakePostgres is a PostgreSQL whose data folder has a folder of files.
func fakePostgres(t *testing.T) {
	t.Helper()
	bin := reachable(t)
	for program, script := range map[string]string{
		serverProgram: "exit 0\n",
		initProgram:   fmt.Sprintf("d=${1#--pgdata=}/base; mkdir -p -m 700 $d && for f in $(seq %d); do echo x >$d/$f || exit 1; done\n", baseFiles),
	} {
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestLinksOfTheDatabasesUserLeadRootNowhere(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has anything that is not the database's user's own")
	}
	rounds := testkit.Samples(20, 100, 1000) // how often each attack can succeed
	fakePostgres(t)
	postgres, err := owner("postgres", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	mongodb, err := owner("mongodb", "mongod", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		user   *platform.User
		copies bool // what the user can spoil for itself
		// prepare does once what root does; what it returns undoes it.
		prepare func(s *Set) (undo func(), err error)
	}{
		"password": {postgres, false, func(s *Set) (func(), error) {
			_, err := s.template(t.Context())
			return func() { s.Close() }, err
		}},
		"data folder": {mongodb, false, func(s *Set) (func(), error) {
			server := &Server{}
			_, err := s.mongod("/usr/bin/mongod", platform.UnitSpec{}, server)
			return func() { server.Stop(context.Background()) }, err
		}},
		"template": {postgres, true, prepareCopy},
		"copy":     {postgres, true, prepareCopy},
	} {
		t.Run(what, func(t *testing.T) {
			s, dir := open(t)
			if c.copies {
				if _, err := s.template(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			victim := newVictim(t)
			want := listing(t, victim)
			end := under(t, what, dir, victim, c.user)
			won, spoilt, example := 0, 0, ""
			for range rounds {
				undo, err := c.prepare(s)
				if err != nil {
					spoilt++
				}
				stolen := stolen(t, dir)
				undo()
				if diff := cmp.Diff(want, listing(t, victim)) + stolen; diff != "" {
					won, example = won+1, diff
					if err := os.RemoveAll(victim); err != nil {
						t.Fatal(err)
					}
					if err := os.Rename(newVictim(t), victim); err != nil {
						t.Fatal(err)
					}
				}
			}
			if attempts := end(); attempts == 0 {
				t.Error("the attacker found no folder")
			}
			removeUnfinished(t, s, dir)
			if spoilt > 0 && !c.copies {
				t.Errorf("the attacker spoilt %d of %d rounds", spoilt, rounds)
			}
			if won > 0 {
				t.Errorf("the attacker won %d of %d rounds, the last one so (-want +got):\n%s", won, rounds, example)
			}
		})
	}
}

// prepareCopy copies the template's data folder for a trial.
func prepareCopy(s *Set) (undo func(), err error) {
	folder, err := s.on.Folder(s.dir, s.postgres.user)
	if err != nil {
		return func() {}, err
	}
	return func() { folder.Remove() }, s.postgres.copyTo(context.Background(), folder)
}

// removeUnfinished removes what the attacker kept root from removing, by adding
// files meanwhile. The template is the set's to remove.
func removeUnfinished(t *testing.T, s *Set, dir string) {
	t.Helper()
	for _, name := range names(dir) {
		folder := filepath.Join(dir, name)
		if s.postgres != nil && s.postgres.folder.Path() == folder {
			continue
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	}
}

// stolen names the copies of a file of the victim's that belong to somebody else.
func stolen(t *testing.T, dir string) (found string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*/data/base/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if link, err := os.Lstat(filepath.Dir(name)); err != nil || !link.IsDir() {
			continue
		}
		f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue // a link
		}
		info, err := f.Stat()
		text, _ := io.ReadAll(f)
		f.Close()
		if err == nil && info.Sys().(*syscall.Stat_t).Uid != 0 && string(text) == "root's" {
			found += name + " has its content\n"
		}
	}
	return found
}
