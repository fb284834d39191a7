package inspect

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/host/procfiles"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// variable is the location of the runtime's gomaxprocs, an int32, in an executable.
type variable struct {
	address uint64 // in the file; 0: not known
	moved   bool   // position-independent: it is loaded at an offset
	base    uint64 // address of the first segment in the file
	inCode  bool   // found in the code that uses it, not by a symbol
}

// page is the smallest of Linux's page sizes; segments are aligned to more.
const page = 4096

// locate finds the variable: by its symbol or, in a stripped executable, in the
// code of the function that sets it.
func locate(f *procfiles.ELF) (v variable, err error) {
	v.moved = f.Type == elf.ET_DYN
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			v.base = p.Vaddr &^ (page - 1)
			break
		}
	}
	if v.address, err = f.Symbol("runtime.gomaxprocs", 4); err != nil || v.address != 0 {
		return v, err
	}
	v.inCode = true
	v.address, err = addressInCode(f)
	return v, err
}

// mostVariables bounds the cache of executables.
const mostVariables = 4096

// variable finds gomaxprocs in the executable of a process, once for each file.
func (s *Scanner) variable(pid int, id identity) (variable, error) {
	if v, ok := s.variables[id]; ok {
		return v.variable, v.err
	}
	v, err := procfiles.Executable(s.procfs, pid, locate)
	if !procfiles.Lasts(err) && !errors.Is(err, errNoTable) && !errors.Is(err, errNoCode) {
		return v, err
	}
	if len(s.variables) >= mostVariables {
		clear(s.variables)
	}
	s.variables[id] = located{v, err}
	return v, err
}

// located is the result of a search in an executable.
type located struct {
	variable
	err error
}

// gomaxprocs reads the variable from a process's memory. That needs the permissions
// of ptrace, but does not stop the process.
func (s *Scanner) gomaxprocs(pid int, exe string, v variable) (int, error) {
	address := v.address
	if v.moved {
		text, err := s.read(pid, "maps")
		if err != nil {
			return 0, err
		}
		start, ok := firstMapping(text, exe)
		if !ok {
			return 0, errors.New("the address of its executable is not known")
		}
		address += start - v.base
	}
	word, err := s.procfs.Memory(pid, address, 4)
	if err != nil {
		return 0, err
	}
	n := int32(binary.NativeEndian.Uint32(word))
	if n < 1 || n > 1<<20 {
		return 0, fmt.Errorf("the value %d is out of range", n)
	}
	return int(n), nil
}

// firstMapping finds the address at which a file's beginning is mapped
// (proc_pid_maps(5)): "start-end perms offset dev inode path".
func firstMapping(maps []byte, file string) (start uint64, ok bool) {
	for line := range strings.Lines(string(maps)) {
		head, path, found := strings.Cut(strings.TrimSuffix(line, "\n"), "/")
		fields := strings.Fields(head)
		if !found || "/"+path != file || len(fields) < 3 {
			continue
		}
		if offset, err := strconv.ParseUint(fields[2], 16, 64); err != nil || offset != 0 {
			continue
		}
		begin, _, _ := strings.Cut(fields[0], "-")
		start, err := strconv.ParseUint(begin, 16, 64)
		return start, err == nil
	}
	return 0, false
}

// goParallelism sets a Go process's parallelism: read from its memory, or else as
// declared in its environment. If neither is known, predict sets it later.
func (s *Scanner) goParallelism(pid int, p program, info *runtimes.Info) {
	info.Parallelism = runtimes.Parallelism{}
	declared, err := strconv.Atoi(strings.TrimSpace(info.Env["GOMAXPROCS"]))
	if err == nil && declared > 0 {
		info.Parallelism = runtimes.Parallelism{Value: declared, Source: runtimes.Declared, From: "GOMAXPROCS in the environment"}
	}
	v, err := s.variable(pid, p.file)
	n := 0
	if err == nil {
		n, err = s.gomaxprocs(pid, p.exe, v)
	}
	if refused, ok := errors.AsType[*procfiles.Refused](err); ok {
		info.Refused = cmp.Or(info.Refused, refused.Why)
		return
	}
	if err != nil {
		info.Notes = append(info.Notes, unread("its GOMAXPROCS", err))
		return
	}
	from := "runtime.gomaxprocs in the process's memory"
	if v.inCode {
		from += ", found by the code of a stripped executable"
	}
	info.Parallelism = runtimes.Parallelism{Value: n, Source: runtimes.Read, From: from}
	if declared > 0 && declared != n {
		info.Notes = append(info.Notes, fmt.Sprintf(
			"GOMAXPROCS=%d is set, but the process runs with %d: it sets its own value, so the variable has no effect", declared, n))
	}
}

// advice is package runtimes' message about a file without permission to read it.
const advice = "permission denied; run as the process's user or as root"

// advised changes the advice in notes for root, whom it does not help.
func (s *Scanner) advised(notes []string) []string {
	notes = slices.Clone(notes)
	if s.root != "" || os.Geteuid() != 0 {
		return notes
	}
	for i := range notes {
		notes[i] = strings.ReplaceAll(notes[i], advice, "permission denied, even for root: a security module or this container's capabilities forbid it")
	}
	return notes
}

// unread describes why a part could not be read.
func unread(what string, err error) string {
	if errors.Is(err, os.ErrPermission) {
		err = errors.New(advice)
	}
	return fmt.Sprintf("%s could not be read: %v", what, err)
}
