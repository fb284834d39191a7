// Package prebuilt replaces a Go toolchain in the machine of package vm, which would take
// minutes to build a program. The host builds the programs of the tests beforehand, and
// the go command in the machine copies them. All tests use the same program: it writes
// "ready" and waits, and keeps four threads busy if it has an argument.
package prebuilt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dir is where the programs are in the machine.
const Dir = "prebuilt"

// Lines are the go lines of the tests' programs: one from before the runtime read limits,
// and the first with which it does.
var Lines = []string{"1.23", "1.25"}

// Flags are the flags that they build them with.
var Flags = [][]string{{}, {"-ldflags=-s -w"}, {"-ldflags=-s -w", "-buildmode=pie"}}

const source = `package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		for range 4 {
			go func() {
				for {
				}
			}()
		}
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
`

// Name is the file's name within Dir of the program of a go line and flags.
func Name(line string, flags []string) string {
	return strings.ReplaceAll(strings.Join(append([]string{line}, flags...), ""), " ", "")
}

// WriteSource writes the program's source with a go line into a folder of its
// own.
func WriteSource(dir, line string) error {
	return errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module program\n\ngo "+line+"\n"), 0o644),
	)
}

// Go is the machine's go command. It knows one line, in a folder of a main.go and
// a go.mod, with flags of Flags:
//
//	go build -o FILE [FLAG...] .
func Go(args []string) error {
	if len(args) < 4 || args[0] != "build" || args[1] != "-o" || args[len(args)-1] != "." {
		return fmt.Errorf("go %q: this machine has no Go toolchain, only programs that were built beforehand", args)
	}
	flags := args[3 : len(args)-1]
	if !slices.ContainsFunc(Flags, func(known []string) bool { return slices.Equal(known, flags) }) {
		return fmt.Errorf("no program was built beforehand with %q", flags)
	}
	main, err := os.ReadFile("main.go")
	if err != nil {
		return err
	}
	if strings.Contains(string(main), `import "C"`) {
		return errors.New("no program was built beforehand with C")
	}
	module, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	_, line, _ := strings.Cut(string(module), "\ngo ")
	program, err := os.ReadFile(filepath.Join("/", Dir, Name(strings.TrimSpace(line), flags)))
	if err != nil {
		return err
	}
	return os.WriteFile(args[2], program, 0o755)
}
