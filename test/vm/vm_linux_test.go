package vm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/test/vm/prebuilt"
)

// module is this module's path.
const module = "github.com/millicore/millicore/"

// programs are the packages whose tests run in the machine.
var programs = map[string]string{
	"local": module + "internal/platform/local",
	"group": module + "internal/platform/local/group",
	"shim":  module + "internal/platform/local/shim",

	"cgroup":   module + "internal/cgroup",
	"maxprocs": module + "maxprocs",
	"auto":     module + "maxprocs/auto",
	"memlimit": module + "maxprocs/memlimit",

	"doctor":  module + "internal/host/doctor",
	"inspect": module + "internal/host/inspect",
}

// layouts are the machines to boot, by the names that process 1 knows.
var layouts = []string{"v2", "hybrid"}

// boots is how often a machine is booted that hangs.
const boots = 2

// TestInMachine runs the tests of other packages in every layout of cgroups
// that this host does not have.
func TestInMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("booting machines takes a while")
	}
	cache := cacheFolder(t)
	m, err := prepare(cache)
	if errors.Is(err, errMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	initramfs := build(t)
	for _, layout := range layouts {
		t.Run(layout, func(t *testing.T) {
			t.Parallel() // a machine uses little more than one CPU
			identity, err := m.identity(layout, initramfs)
			if err != nil {
				t.Fatal(err)
			}
			console := kept(cache, layout, identity)
			if console == nil || testkit.Campaign() {
				if console, err = m.bootPatiently(t, layout, initramfs); err != nil {
					t.Errorf("the machine ended: %v", err)
				}
			} else {
				t.Log("not booted: a machine made of the same passed; its console follows")
			}
			all, outside, done := sections(console)
			if outside != "" || !done {
				t.Errorf("the machine did not work (done: %v); outside of tests the console has:\n%s", done, plain(outside))
			}
			for _, s := range all {
				t.Run(s.situation+"/"+s.program, s.replay)
			}
			if t.Failed() {
				return
			}
			if err := keep(cache, layout, identity, console); err != nil {
				t.Log("its verdict is not kept:", err)
			}
		})
	}
}

// bootPatiently boots the machine again if it hangs.
func (m machine) bootPatiently(t *testing.T, layout, initramfs string) ([]byte, error) {
	t.Helper()
	console, err := m.boot(t.Context(), layout, initramfs)
	for again := 1; again < boots && errors.Is(err, errSilent); again++ {
		t.Logf("booted again, because %v; the console ended with:\n%s", err, plain(string(console[max(0, len(console)-2000):])))
		console, err = m.boot(t.Context(), layout, initramfs)
	}
	return console, err
}

// plain removes the marks of a program that runs with -test.v=test2json from a part of
// the console. With them, the log of this test would begin and end tests of its own.
func plain(console string) string { return strings.NewReplacer("\x16", "", "\r", "").Replace(console) }

// cacheFolder is where qemu and kernels are kept.
func cacheFolder(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	return filepath.Join(cache, "millicore", "vm")
}

// build makes an initramfs with process 1, the test programs, and the programs that the
// tests would build.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var a archive
	// Without the commit, with which each commit would be another machine.
	a.made(t, "init", ".", "build", small, "-buildvcs=false", module+"test/vm/init")
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		pkg := programs[name]
		a.made(t, "tests/"+name, ".", "test", "-c", small, pkg)
	}
	for _, line := range prebuilt.Lines {
		source := filepath.Join(dir, line)
		if err := prebuilt.WriteSource(source, line); err != nil {
			t.Fatal(err)
		}
		for _, flags := range prebuilt.Flags {
			a.made(t, prebuilt.Dir+"/"+prebuilt.Name(line, flags), source, append(append([]string{"build"}, flags...), ".")...)
		}
	}
	for name, err := range a.tools("sh", "true", "sleep", "strace", "node", "nginx") {
		t.Logf("tests in the machine have no %s: %v", name, err)
	}
	return a.written(t)
}

// small are flags for programs without symbols.
const small = "-ldflags=-s -w"

// made adds the file that a go command in dir writes.
func (a *archive) made(t *testing.T, name, dir string, args ...string) {
	t.Helper()
	content, err := made(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	a.file(name, content)
}

// written is a file with the archive.
func (a *archive) written(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "initramfs")
	if err := os.WriteFile(file, a.close(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// made runs a go command in dir and returns the file that it writes. It inserts the name
// of the file before the package.
func made(dir string, args ...string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "millicore-vm-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "made")
	last := len(args) - 1
	cmd := exec.Command("go", append(append(slices.Clone(args[:last]), "-o", file), args[last])...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath") // as make build, whose packages are in the cache then
	if dir != "." {
		cmd.Env = append(cmd.Env, "GOWORK=off")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return os.ReadFile(file)
}

// replay reports the tests of a section as subtests of this one.
func (s section) replay(t *testing.T) {
	cmd := exec.Command("go", "tool", "test2json")
	cmd.Stdin = bytes.NewReader(s.output)
	events, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	output, running := map[string]*strings.Builder{}, map[string]bool{}
	decoder := json.NewDecoder(bytes.NewReader(events))
	for decoder.More() {
		var e struct{ Action, Test, Output string }
		if err := decoder.Decode(&e); err != nil {
			t.Fatal(err)
		}
		top, _, _ := strings.Cut(e.Test, "/")
		if output[top] == nil {
			output[top] = &strings.Builder{}
		}
		text := output[top]
		text.WriteString(e.Output)
		if e.Test == "" || e.Test != top {
			continue
		}
		switch e.Action {
		case "run":
			running[top] = true
		case "pass":
			delete(running, top)
			t.Run(top, func(t *testing.T) {})
		case "skip":
			delete(running, top)
			t.Run(top, func(t *testing.T) { t.Skip(text) })
		case "fail":
			delete(running, top)
			t.Run(top, func(t *testing.T) { t.Error(text) })
		}
	}
	for _, top := range slices.Sorted(maps.Keys(running)) {
		t.Run(top, func(t *testing.T) { t.Errorf("it did not end:\n%s", output[top]) })
	}
	if s.outcome != "ok" {
		t.Errorf("the program ended with %q; its output outside of tests:\n%s", s.outcome, fmt.Sprint(output[""]))
	}
}

func TestAPartOfTheConsoleBeginsNoTest(t *testing.T) {
	if got, want := plain("\x16=== RUN   TestX\r\n"), "=== RUN   TestX\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSections(t *testing.T) {
	ran := "noise\r\nVM begin root a\r\n=== RUN x\r\nVM end root a ok\r\nVM begin root b\r\npanic: y\r\nVM end root b exit status 2\r\n"
	want := []section{{"root", "a", []byte("=== RUN x\n"), "ok"}, {"root", "b", []byte("panic: y\n"), "exit status 2"}}
	for _, test := range []struct {
		name, console string
		want          []section
		outside       string
		done          bool
	}{
		{"all ran", ran + "VM done\r\n[ 9.9] reboot: Power down\r\n", want, "noise", true},
		{"cut short", ran + "VM begin box a\r\nhalf", append(want, section{"box", "a", []byte("half"), ""}), "noise", false},
		{"nothing", "", nil, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, outside, done := sections([]byte(test.console))
			if fmt.Sprint(all) != fmt.Sprint(test.want) || outside != test.outside || done != test.done {
				t.Errorf("%v outside %q, done %v", all, outside, done)
			}
		})
	}
}

// Output postpones the end of a machine, and a silence brings it.
func TestASilentMachineIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		c := listen(time.Minute, func() { ended = true })
		for range 3 {
			time.Sleep(time.Minute - time.Nanosecond)
			fmt.Fprint(c, "a line\n")
		}
		if synctest.Wait(); ended {
			t.Error("it was ended between its lines")
		}
		time.Sleep(time.Minute)
		if synctest.Wait(); !ended {
			t.Error("it was not ended after a minute without output")
		}
		if want := "a line\na line\na line\n"; c.output.String() != want {
			t.Errorf("output %q, want %q", &c.output, want)
		}
	})
}

// A verdict holds for the same machine only.
func TestAVerdictIsOfItsMachine(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	m := machine{qemu: file("qemu", "q"), kernel: file("kernel", "k")}
	initramfs := file("initramfs", "i")
	identity := func(layout string) string {
		id, err := m.identity(layout, initramfs)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := identity("v2")
	if got := kept(dir, "v2", first); got != nil {
		t.Errorf("before the first verdict: %q", got)
	}
	if err := keep(dir, "v2", first, []byte("a\nb\n")); err != nil {
		t.Fatal(err)
	}
	if got := string(kept(dir, "v2", identity("v2"))); got != "a\nb\n" {
		t.Errorf("the same machine: %q, want its console", got)
	}
	if id := identity("hybrid"); id == first || kept(dir, "hybrid", id) != nil {
		t.Error("another layout has the verdict")
	}
	for name, before := range map[string]string{"qemu": "q", "kernel": "k", "initramfs": "i"} {
		file(name, before+before)
		if kept(dir, "v2", identity("v2")) != nil {
			t.Errorf("a machine with another %s has the verdict", name)
		}
		file(name, before)
	}
}

func TestArchive(t *testing.T) {
	var a archive
	a.file("tests/x", []byte("12345"))
	got := a.close()
	if len(got)%4 != 0 || !bytes.HasPrefix(got, []byte("07070100000001000041ed")) {
		t.Errorf("%d bytes that begin %.40q", len(got), got)
	}
	for _, name := range []string{"tests\x00", "tests/x\x00", "dev\x00", "dev/console\x00", "TRAILER!!!\x00"} {
		if bytes.Count(got, []byte(name)) != 1 {
			t.Errorf("%q is not in it once", name)
		}
	}
}
