package doctor_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/test/testkit/groups"
)

// readFile uses random parts of a file until the process is killed: mapped, or with a copy of
// each. It writes a line once it has used as much as the file has.
func readFile(name string, mapped bool) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var memory []byte
	if mapped {
		if memory, err = syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED); err != nil {
			return err
		}
		if err := syscall.Madvise(memory, syscall.MADV_RANDOM); err != nil {
			return err
		}
	}
	const part = 4096
	buffer, sum := make([]byte, part), byte(0)
	for i := int64(1); ; i++ {
		at := rand.Int64N(info.Size() - part)
		if mapped {
			sum += memory[at]
		} else if _, err := file.ReadAt(buffer, at); err != nil {
			return err
		}
		if i == info.Size()/part {
			fmt.Println("ready", sum)
		}
	}
}

// A group that is at its memory limit is short of memory if what it uses is evicted and read
// again, and not because it keeps files in memory.
func TestRealPageCacheIsNoMemoryPressure(t *testing.T) {
	testkit.Long(t, "programs under a real memory limit")
	const limit = 48 << 20
	name := filepath.Join(t.TempDir(), "file")
	var fs syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(name), &fs); err != nil || fs.Type == 0x01021994 || fs.Type == 0x858458f6 { // tmpfs, ramfs
		t.Skip("needs a folder for temporary files on a disk: its files are else no page cache")
	}
	if err := os.WriteFile(name, bytes.Repeat([]byte("millicore"), 2*limit/9), 0o600); err != nil {
		t.Fatal(err)
	}
	for use, want := range map[string]bool{"cached": false, "mapped": true} {
		t.Run(use, func(t *testing.T) {
			forget(t, name) // its pages belong to the group that reads them first
			g := groups.New(t)
			g.LimitMemory(t, limit)
			cmd := g.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "GOMAXPROCS=1", reading+"="+use+":"+name)
			testkit.StartReady(t, cmd, "ready")
			host, err := inspect.New("").Scan(context.Background(), inspect.Only{PID: cmd.Process.Pid}, 2*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			m := host.Processes[0].Memory
			if m.Limit != limit || m.Current == nil || *m.Current < limit/10*9 {
				t.Fatalf("it is not at its limit: %+v", m)
			}
			var found []doctor.Finding
			for _, f := range doctor.Examine(host) {
				if f.Rule == doctor.StalledForMemory || f.Rule == doctor.NearMemoryLimit {
					found = append(found, f)
				}
			}
			if (len(found) == 1 && found[0].Rule == doctor.StalledForMemory) != want || !want && found != nil {
				t.Errorf("found %+v with %+v over the watch", found, m.Over)
			}
		})
	}
}

// grow uses memory page by page. It writes a line at the first of two sizes, and stops at the
// second until the process is killed.
func grow(sizes string) error {
	var ready, all int
	if _, err := fmt.Sscanf(sizes, "%d:%d", &ready, &all); err != nil {
		return err
	}
	memory, err := syscall.Mmap(-1, 0, all, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	const page = 4096
	for at := 0; at < all; at += page {
		memory[at] = 1
		if at == ready {
			fmt.Println("ready")
		}
	}
	time.Sleep(time.Hour) // it is killed
	return nil
}

// A group that wants more than its memory.high is held up by the kernel, and one that needs
// less is not. Without swap the kernel can evict nothing of what these programs use.
func TestRealMemoryHigh(t *testing.T) {
	testkit.Long(t, "programs under a real memory.high")
	const high = 64 << 20
	groups.New(t).SlowMemory(t, high) // skips all where there is none
	for use, test := range map[string]struct {
		ready, all int
		want       bool
	}{
		"half":            {high/2 - 4096, high / 2, false},
		"more than it is": {high / 2, 4 * high, true},
	} {
		t.Run(use, func(t *testing.T) {
			g := groups.New(t)
			g.SlowMemory(t, high)
			cmd := g.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "GOMAXPROCS=1", fmt.Sprintf("%s=%d:%d", growing, test.ready, test.all))
			testkit.StartReady(t, cmd, "ready")
			host, err := inspect.New("").Scan(context.Background(), inspect.Only{PID: cmd.Process.Pid}, 3*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			bounds := host.Processes[0].Bounds
			if len(bounds) != 1 || !bounds[0].High || bounds[0].Limit != high {
				t.Fatalf("its bounds are %+v", bounds)
			}
			over := bounds[0].Over
			if held := over != nil && over.Held != nil && *over.Held > 0; held != test.want {
				t.Errorf("held up: %v, over the watch %+v", held, over)
			}
			var found []doctor.Rule
			for _, f := range doctor.Examine(host) {
				found = append(found, f.Rule)
				t.Log(f.Title, f.Evidence, f.Fix)
			}
			var want []doctor.Rule
			if test.want {
				want = []doctor.Rule{doctor.StalledForMemory}
			}
			if !slices.Equal(found, want) {
				t.Errorf("found %v, want %v; over the watch %+v", found, want, over)
			}
		})
	}
}

// forget drops the page cache of a file.
func forget(t *testing.T, name string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, file.Fd(), 0, 0, dontNeed, 0, 0); errno != 0 {
		t.Fatal(errno)
	}
}
