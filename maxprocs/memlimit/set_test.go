package memlimit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/cgroup/testkit"
	"github.com/millicore/millicore/maxprocs"
)

const mib = 1 << 20

// fixture is a host with cgroup v2, whose process is in the group /pod/box, with nothing
// limited.
type fixture struct {
	t    testing.TB
	root string
	host host
}

func newFixture(t testing.TB) fixture {
	t.Helper()
	root := t.TempDir()
	f := fixture{t, root, host{fs: cgroup.NewFS(root), interval: time.Millisecond}}
	f.write("proc/self/cgroup", "0::/pod/box\n")
	f.write("proc/1/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n")
	f.limit("max")
	f.limitPod("max")
	before := debug.SetMemoryLimit(None)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	return f
}

// write writes a file, which may be open.
func (f fixture) write(name, text string) {
	f.t.Helper()
	name = filepath.Join(f.root, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		f.t.Fatal(err)
	}
}

func (f fixture) limit(bytes any) {
	f.t.Helper()
	f.write("sys/fs/cgroup/pod/box/memory.max", fmt.Sprintln(bytes))
}

func (f fixture) limitPod(bytes any) {
	f.t.Helper()
	f.write("sys/fs/cgroup/pod/memory.max", fmt.Sprintln(bytes))
}

// set calls Set on the host of the fixture. What it does ends with the test.
func (f fixture) set(opts ...Option) (Result, func()) {
	f.t.Helper()
	r, undo := f.host.set(optionsOf(opts))
	f.t.Cleanup(undo)
	return r, undo
}

func want(t testing.TB, bytes int64) {
	t.Helper()
	if got := debug.SetMemoryLimit(-1); got != bytes {
		t.Errorf("GOMEMLIMIT is %d, want %d", got, bytes)
	}
}

func until(t testing.TB, bytes int64) {
	t.Helper()
	testkit.Until(t, fmt.Sprintf("GOMEMLIMIT is %d", bytes), func() (bool, any) {
		got := debug.SetMemoryLimit(-1)
		return got == bytes, got
	})
}

func TestPlan(t *testing.T) {
	limited := Limit{State: maxprocs.Limited, Bytes: 1000}
	partly := limited
	partly.Err = errors.New("refused")
	for _, tt := range []struct {
		name  string
		opts  []Option
		limit Limit
		now   int64
		want  int64
		why   Why
	}{
		{"90% by default", nil, limited, None, 900, FromLimit},
		{"more headroom", []Option{Headroom(0.25)}, limited, None, 750, FromLimit},
		{"no headroom", []Option{Headroom(0)}, limited, None, 1000, FromLimit},
		{"headroom without sense", []Option{Headroom(1), Headroom(-0.1), Headroom(math.NaN()), nil}, limited, None, 900, FromLimit},
		{"no limit", nil, Limit{State: maxprocs.Unlimited}, 900, None, NoLimit},
		{"not known", nil, Limit{Err: errors.New("refused")}, 900, 900, LimitUnknown},
		{"partly known, lower", nil, partly, 1800, 900, FromLimit},
		{"partly known, higher", nil, partly, 500, 500, FromLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, why := optionsOf(tt.opts).plan(tt.limit, tt.now); got != tt.want || why != tt.why {
				t.Errorf("got %d, %v; want %d, %v", got, why, tt.want, tt.why)
			}
		})
	}
}

func TestHeadroomOfTheEnvironment(t *testing.T) {
	for _, tt := range []struct {
		value   string
		opts    []Option
		mib     int64 // of 1000
		warning string
	}{
		{"0.25", nil, 750, ""},
		{"0", []Option{Headroom(0.5)}, 1000, ""},
		{"1", nil, 900, `memlimit: MEMLIMIT_HEADROOM="1" is ignored, and 0.1 used: it is a share from 0 to below 1, such as 0.25`},
		{"NaN", []Option{Headroom(0.5)}, 500, `memlimit: MEMLIMIT_HEADROOM="NaN" is ignored, and 0.5 used: it is a share from 0 to below 1, such as 0.25`},
		{"25%", nil, 900, `memlimit: MEMLIMIT_HEADROOM="25%" is ignored, and 0.1 used: it is a share from 0 to below 1, such as 0.25`},
		{"", nil, 900, `memlimit: MEMLIMIT_HEADROOM="" is ignored, and 0.1 used: it is a share from 0 to below 1, such as 0.25`},
	} {
		t.Run(tt.value, func(t *testing.T) {
			f := newFixture(t)
			f.limit(1000 * mib)
			t.Setenv(HeadroomVariable, tt.value)
			var lines []string
			var structured bytes.Buffer
			_, undo := f.set(append(tt.opts, Logger(func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }),
				Slog(slog.New(slog.NewTextHandler(&structured, nil))))...)
			want(t, tt.mib*mib)
			undo()
			if warned := len(lines) == 3; warned != (tt.warning != "") || warned && lines[0] != tt.warning {
				t.Errorf("got %q, want %q first", lines, tt.warning)
			}
			if warned := strings.Contains(structured.String(), "level=WARN msg=memlimit error="); warned != (tt.warning != "") {
				t.Errorf("got %s", &structured)
			}
		})
	}
	f := newFixture(t)
	t.Setenv("GOMEMLIMIT", "off")
	t.Setenv(HeadroomVariable, "x")
	var lines []string
	f.set(Logger(func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }))
	if len(lines) != 1 {
		t.Errorf("got %q, want nothing about a variable without effect", lines)
	}
}

func TestSetAndUndo(t *testing.T) {
	f := newFixture(t)
	f.limit(1000 * mib)
	r, undo := f.set()
	want(t, 900*mib)
	if r.Before != None || r.After != 900*mib || r.Why != FromLimit || r.Limit.Bytes != 1000*mib || r.Following || r.Err() != nil {
		t.Errorf("got %+v", r)
	}
	undo()
	want(t, None)
	debug.SetMemoryLimit(5 * mib)
	undo()
	want(t, 5*mib) // an undo is done once
}

func TestSetLeaves(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(f fixture)
		left  int64
		why   Why
		err   bool
	}{
		{"the environment's", func(f fixture) { f.t.(*testing.T).Setenv("GOMEMLIMIT", "off") }, None, Environment, false},
		{"the program's", func(fixture) { debug.SetMemoryLimit(7 * mib) }, 7 * mib, Program, false},
		{"no limit", func(f fixture) { f.limit("max") }, None, NoLimit, false},
		{"no control groups", func(f fixture) { os.Remove(filepath.Join(f.root, "proc/self/cgroup")) }, None, NoLimit, false},
		{"garbage", func(f fixture) { f.limit("much") }, None, LimitUnknown, true},
		{"no /proc", func(f fixture) { os.RemoveAll(filepath.Join(f.root, "proc")) }, None, LimitUnknown, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.limit(1000 * mib)
			tt.spoil(f)
			r, undo := f.set()
			if r.Why != tt.why || (r.Err() != nil) != tt.err || r.Before != tt.left || r.After != tt.left {
				t.Errorf("got %+v, want %v", r, tt.why)
			}
			want(t, tt.left)
			undo()
			want(t, tt.left)
		})
	}
}

func TestFollow(t *testing.T) {
	f := newFixture(t)
	f.limit(1000 * mib)
	r, undo := f.set(Follow(context.Background()))
	if !r.Following {
		t.Error("it is not followed")
	}
	f.limit(500 * mib)
	until(t, 450*mib)
	f.limitPod(100 * mib)
	until(t, 90*mib)
	f.limitPod("max")
	until(t, 450*mib)
	f.limit("max")
	until(t, None)
	f.write("proc/self/cgroup", "0::/pod/other\n") // the process is moved
	f.write("sys/fs/cgroup/pod/other/memory.max", fmt.Sprintln(200*mib))
	until(t, 180*mib)
	undo()
	want(t, None)
}

// What the program sets is never replaced, and nothing is followed from then on.
func TestFollowLeavesTheProgramsOwn(t *testing.T) {
	f := newFixture(t)
	f.limit(1000 * mib)
	_, undo := f.set(Follow(context.Background()))
	debug.SetMemoryLimit(7 * mib)
	f.limit(500 * mib)
	testkit.Until(t, "following ends", func() (bool, any) {
		mu.Lock()
		defer mu.Unlock()
		return inForce.timer == nil, nil
	})
	want(t, 7*mib)
	undo()
	want(t, 7*mib)
}

func TestFollowEndsWithItsContext(t *testing.T) {
	f := newFixture(t)
	f.limit(1000 * mib)
	ctx, cancel := context.WithCancel(context.Background())
	f.set(Follow(ctx))
	cancel()
	testkit.Until(t, "following ends", func() (bool, any) {
		mu.Lock()
		defer mu.Unlock()
		return inForce.timer == nil, nil
	})
	want(t, 900*mib)
	if r, _ := f.set(Follow(ctx)); r.Following {
		t.Error("a context that has ended is followed")
	}
}

// A later Set takes over, and its undo restores what was before the first.
func TestSetAgain(t *testing.T) {
	f := newFixture(t)
	f.limit(1000 * mib)
	_, first := f.set(Follow(context.Background()))
	_, second := f.set(Headroom(0.5))
	want(t, 500*mib)
	first()
	want(t, 500*mib)
	second()
	want(t, None)
}

func TestLoggers(t *testing.T) {
	f := newFixture(t)
	f.limit(1000 * mib)
	var lines []string
	var structured bytes.Buffer
	handler := slog.NewTextHandler(&structured, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	say := func() {
		_, undo := f.set(Logger(func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }), Slog(slog.New(handler)))
		undo()
	}
	say()
	f.limit("max")
	say()
	f.limit("much")
	say()
	wantLines := `memlimit: GOMEMLIMIT off -> 900MiB, from the limit of 1000MiB that /sys/fs/cgroup/pod/box sets
memlimit: undone, GOMEMLIMIT 900MiB -> off
memlimit: GOMEMLIMIT stays off, there is no memory limit
memlimit: GOMEMLIMIT stays off, the memory limit is not known: `
	if got := strings.Join(lines, "\n"); !strings.HasPrefix(got, wantLines) {
		t.Errorf("got\n%s\nwant\n%s", got, wantLines)
	}
	wantStructured := `level=INFO msg=memlimit before=9223372036854775807 gomemlimit=943718400 why="the memory limit, with headroom" limit_bytes=1048576000 limit_by=/sys/fs/cgroup/pod/box
level=INFO msg="memlimit undone" before=943718400 gomemlimit=9223372036854775807
level=INFO msg=memlimit before=9223372036854775807 gomemlimit=9223372036854775807 why="there is no memory limit"
level=WARN msg=memlimit before=9223372036854775807 gomemlimit=9223372036854775807 why="the memory limit is not known" error=`
	if got := structured.String(); !strings.HasPrefix(got, wantStructured) {
		t.Errorf("got\n%s\nwant\n%s", got, wantStructured)
	}
}
