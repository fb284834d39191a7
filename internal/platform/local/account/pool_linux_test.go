package account

import (
	"os"
	"path/filepath"
	"testing"
)

// small is a pool of four users, of which the third has a process.
func small(t *testing.T, file string) *Pool {
	t.Helper()
	p, err := OpenPool(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	p.lowest, p.count = 4000100, 4
	p.inUse = func() (map[int]bool, error) { return map[int]bool{4000102: true}, nil }
	return p
}

func take(t *testing.T, p *Pool) int {
	t.Helper()
	a, err := p.Take()
	if err != nil {
		t.Fatal(err)
	}
	if a.UID != a.GID || a.UID == 4000102 || a.UID < 4000100 || a.UID > 4000103 {
		t.Fatalf("%+v", a)
	}
	return a.UID
}

func TestTwoRunsDoNotShareAUser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	one, other := small(t, file), small(t, file)
	seen := map[int]bool{take(t, one): true, take(t, other): true, take(t, one): true}
	if len(seen) != 3 {
		t.Errorf("users %v, want three", seen)
	}
	for _, p := range []*Pool{one, other} {
		if a, err := p.Take(); err == nil {
			t.Errorf("%+v, but all are taken", a)
		}
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	take(t, other)
}

func TestUsersOfProcesses(t *testing.T) {
	all, err := processUsers()
	if err != nil || !all[os.Getuid()] {
		t.Errorf("users %v (%v), want that of this process among them", all, err)
	}
}

// The lock is no file of another user that a link leads to.
func TestTheLocksFollowNoLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("elsewhere", filepath.Join(dir, "users")); err != nil {
		t.Fatal(err)
	}
	if p, err := OpenPool(filepath.Join(dir, "users")); err == nil {
		p.Close()
		t.Error("it followed the link")
	}
}
