package inspect

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/host/procfiles"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/test/testkit"
)

const goProgram = `package main

import (
	"fmt"
	"time"
)

func main() {
	fmt.Println("ready")
	time.Sleep(time.Hour) // select{} alone would be a deadlock
}
`

const cgoProgram = `package main

// #include <stdlib.h>
import "C"

import "fmt"

func main() {
	C.free(C.malloc(3))
	fmt.Println("ready")
	select {}
}
`

// build builds a Go program, or skips the test where that cannot be done.
func build(t *testing.T, program, line string, env []string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": program, "go.mod": "module program\n\ngo " + line + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", append(append([]string{"build", "-o", "program"}, flags...), ".")...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath", "CGO_ENABLED=0"), env...)
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "no program was built beforehand with C") { // by test/vm/prebuilt
		t.Skip("the emulated machine has no C compiler")
	}
	if err != nil {
		testkit.Missing(t, "needs a Go toolchain (and gcc for cgo) that builds this: ", err, ": ", string(out))
	}
	return filepath.Join(dir, "program")
}

// The symbol's address is the truth for what is found in the code.
func TestTheCodeAgreesWithTheSymbol(t *testing.T) {
	for _, test := range []struct {
		name, program string
		env, flags    []string
	}{
		{"amd64", goProgram, []string{"GOARCH=amd64"}, nil},
		{"arm64", goProgram, []string{"GOARCH=arm64"}, nil},
		{"arm64, position-independent", goProgram, []string{"GOARCH=arm64"}, []string{"-buildmode=pie"}},
		{"position-independent", goProgram, nil, []string{"-buildmode=pie"}},
		{"with C", cgoProgram, []string{"CGO_ENABLED=1"}, nil},
		{"with C, position-independent", cgoProgram, []string{"CGO_ENABLED=1"}, []string{"-buildmode=pie"}},
		{"with the race detector", goProgram, []string{"CGO_ENABLED=1"}, []string{"-race"}},
		{"not optimized", goProgram, nil, []string{"-gcflags=all=-N -l"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			file, err := os.Open(build(t, test.program, "1.25", append([]string{"GOOS=linux"}, test.env...), test.flags...))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			f, err := elf.NewFile(file)
			if err != nil {
				t.Fatal(err)
			}
			symbols, err := f.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			want := uint64(0)
			for _, s := range symbols {
				if s.Name == "runtime.gomaxprocs" {
					want = s.Value
				}
			}
			var got, bySymbol uint64
			err = procfiles.Parse(file, func(f *procfiles.ELF) (err error) {
				if bySymbol, err = f.Symbol("runtime.gomaxprocs", 4); err != nil {
					return err
				}
				got, err = addressInCode(f)
				return err
			})
			if err != nil || got != want || bySymbol != want {
				t.Errorf("got %#x, and %#x by the symbol, %v; want %#x", got, bySymbol, err, want)
			}
		})
	}
}

func TestRealGomaxprocs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /proc")
	}
	for _, test := range []struct {
		name, program string
		env, flags    []string
	}{
		{"with symbols", goProgram, nil, nil},
		{"stripped", goProgram, nil, []string{"-ldflags=-s -w"}},
		{"stripped and position-independent", goProgram, nil, []string{"-ldflags=-s -w", "-buildmode=pie"}},
		{"stripped, with C", cgoProgram, []string{"CGO_ENABLED=1"}, []string{"-ldflags=-s -w"}},
		{"stripped, with C, position-independent", cgoProgram, []string{"CGO_ENABLED=1"}, []string{"-ldflags=-s -w", "-buildmode=pie"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			program := build(t, test.program, "1.25", test.env, test.flags...)
			s := New("")
			for _, procs := range []string{"3", "5"} { // of one program, and each its own
				pid := start(t, program, "GOMAXPROCS="+procs)
				host, err := s.Scan(context.Background(), Only{PID: pid}, 0)
				if err != nil {
					t.Fatal(err)
				}
				i := host.Processes[0].Info
				if strings.Contains(strings.Join(i.Notes, ""), "permission denied") {
					t.Skipf("the process's memory may not be read here: %v", i.Notes)
				}
				if got := i.Parallelism.Value; got != int(procs[0]-'0') || i.Runtime != runtimes.Go {
					t.Errorf("GOMAXPROCS=%s: got %+v", procs, i)
				}
			}
		})
	}
}

// start runs a program until the test ends, and returns once it is ready.
func start(t *testing.T, program string, env ...string) int {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), env...)
	testkit.StartReady(t, cmd, "ready")
	return cmd.Process.Pid
}

func TestFirstMapping(t *testing.T) {
	maps := []byte("5500-5600 r-xp 00001000 fd:01 9 /app/api\n" +
		"7f00-7f10 r--p 00000000 fd:01 9 /app/api (deleted)\n" +
		"5400-5500 r--p 00000000 fd:01 9 /app/api\n7fff-8000 rw-p 00000000 00:00 0 [stack]\nbroken\n")
	if start, ok := firstMapping(maps, "/app/api"); !ok || start != 0x5400 {
		t.Errorf("got %#x, %t", start, ok)
	}
	if start, ok := firstMapping(maps, "/app/api (deleted)"); !ok || start != 0x7f00 {
		t.Errorf("deleted: got %#x, %t", start, ok)
	}
	if _, ok := firstMapping(maps, "/app/other"); ok {
		t.Error("another file is not mapped")
	}
}

// FuzzLocate gives the reader of executables foreign files, and the reader of
// Go's table foreign tables.
func FuzzLocate(f *testing.F) {
	if text, err := os.ReadFile("/bin/true"); err == nil {
		f.Add(text[:min(len(text), 4<<10)])
	}
	table := make([]byte, 256)
	copy(table, []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8, 2})
	f.Add(table)
	f.Fuzz(func(t *testing.T, text []byte) {
		var v variable
		err := procfiles.Parse(bytes.NewReader(text), func(f *procfiles.ELF) (err error) {
			v, err = locate(f)
			return err
		})
		if err == nil && v.address == 0 {
			t.Error("no address, and no error")
		}
		if begin, end, ok := function(text, binary.LittleEndian, setter); ok && (begin >= end || end-begin > largest) {
			t.Errorf("a function from %d to %d", begin, end)
		}
		usesAMD64(text, 0x1000)
		usesARM64(text, 0x1000)
	})
}
