package doctor_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
