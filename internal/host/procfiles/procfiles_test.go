package procfiles

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A process that does not answer costs its time once, and others nothing.
func TestAProcessThatDoesNotAnswer(t *testing.T) {
	h := New(t.TempDir())
	h.process = 10 * time.Millisecond
	never := make(chan struct{})
	defer close(never)
	answers := func(pid int) error {
		_, err := Do(h, pid, func() (int, error) { return 0, nil })
		return err
	}
	_, err := Do(h, 10, func() (int, error) { <-never; return 0, nil })
	if refused, ok := errors.AsType[*Refused](err); !ok || !refused.Late || Lasts(err) || !strings.Contains(refused.Why, "within 10ms") {
		t.Fatalf("got %v", err)
	}
	h.process = time.Minute
	if err := answers(10); err == nil {
		t.Error("a process whose time is over was read")
	}
	if err := answers(11); err != nil {
		t.Errorf("another process: got %v", err)
	}
	h.Begin()
	if err := answers(10); err != nil {
		t.Errorf("in the next scan: got %v", err)
	}
}

func TestReadIsBounded(t *testing.T) {
	h := New(t.TempDir())
	folder := filepath.Join(h.root, "10")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"cmdline": mostMemory + 1, "environ": mostMemory, "maps": mostMaps + 1, "status": mostText + 1} {
		if err := errors.Join(os.WriteFile(filepath.Join(folder, name), nil, 0o644), os.Truncate(filepath.Join(folder, name), size)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{"cmdline": 0, "environ": mostMemory, "maps": 0, "status": mostText} {
		text, err := h.Read(10, name)
		if _, refused := errors.AsType[*Refused](err); len(text) != want || refused != (want == 0) {
			t.Errorf("%s: got %d bytes, %v; want %d", name, len(text), err, want)
		}
	}
}

func TestNamesAndSocketsAreBounded(t *testing.T) {
	h := New(t.TempDir())
	folder := filepath.Join(h.root, "10", "fd")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range mostDescriptors + 10 {
		if err := os.Symlink("socket:["+strconv.Itoa(i)+"]", filepath.Join(folder, strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	if err := h.Sockets(10, func(string) { n++ }); err != nil || n != mostDescriptors {
		t.Errorf("got %d sockets, %v", n, err)
	}
	if names, err := h.Names(10, "fd", 7); len(names) != 7 || err != nil {
		t.Errorf("got %q, %v", names, err)
	}
	if _, err := h.Names(10, "task", 7); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestShort(t *testing.T) {
	if got := Short("/a/release"); got != "/a/release" {
		t.Errorf("got %q", got)
	}
	if got := Short("/" + strings.Repeat("ä", 4000) + "/release"); len(got) > 90 || !strings.HasSuffix(got, "ä/release") {
		t.Errorf("got %q", got)
	}
}
