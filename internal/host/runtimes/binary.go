package runtimes

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"strings"
)

// Binary is what an executable file shows of the runtime that it contains.
type Binary struct {
	Go         *debug.BuildInfo
	Gomaxprocs uint64 // address of runtime.gomaxprocs in the file; 0: no symbol
	Pprof      bool   // net/http/pprof is linked in
	Memlimit   bool   // maxprocs/memlimit is linked in
	Moved      bool   // position-independent: it is loaded at an offset, the bias
	Base       uint64 // address of the first segment in the file

	Node, Bun, Deno, Rustc string // versions found in it
	NodeSymbol             bool   // exports node::Start
	Tokio                  bool   // contains the name TOKIO_WORKER_THREADS
	Rayon                  bool   // contains the name RAYON_NUM_THREADS
	// Versions of the crates tokio and rayon-core, from the paths of their sources in
	// messages; "" in a program without those.
	TokioVersion, RayonVersion string
	Python                     bool // linked with libpython
}

// maxScan bounds how much of a section is searched, in bytes. The largest known
// section, Node's read-only data, has 47 MB.
const maxScan = 256 << 20

// Marks in the read-only data of executables. Deno's has no separator from its
// neighbours; "-Deno/" belongs to a library.
var (
	nodeMark  = regexp.MustCompile(`node\.js/v(\d{1,4}\.\d{1,4}\.\d{1,4})`)
	bunMark   = regexp.MustCompile(`Bun v(\d{1,4}\.\d{1,4}\.\d{1,4}) \(`)
	denoMark  = regexp.MustCompile(`[^-]Deno/(\d{1,4}\.\d{1,4}\.\d{1,4})`)
	rustcHash = regexp.MustCompile(`/rustc/([0-9a-f]{40})/`)
	tokioMark = regexp.MustCompile(`/tokio-(\d{1,4}\.\d{1,4}\.\d{1,4})/src/`)
	rayonMark = regexp.MustCompile(`/rayon-core-(\d{1,4}\.\d{1,4}\.\d{1,4})/src/`)
	rustcMark = regexp.MustCompile(`rustc version (\d{1,4}\.\d{1,4}\.\d{1,4})`)
)

// inspect reads an executable. An error means that it is not a readable ELF file.
func inspect(file io.ReaderAt) (b Binary, err error) {
	defer func() {
		// debug/elf and debug/buildinfo are not hardened against malicious files,
		// and any process may have one.
		if r := recover(); r != nil {
			b, err = Binary{}, fmt.Errorf("read the executable: it is malformed (%v)", r)
		}
	}()
	f, err := elf.NewFile(file)
	if err != nil {
		return Binary{}, fmt.Errorf("read the executable: %w", err)
	}
	b.Moved = f.Type == elf.ET_DYN
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			b.Base = p.Vaddr &^ (pageSize - 1)
			break
		}
	}
	if info, err := buildinfo.Read(file); err == nil {
		b.Go = info
		err := b.inspectGo(f)
		return b, err
	}
	b.inspectMarks(f)
	return b, nil
}

// pageSize is the smallest of Linux's page sizes; segments are aligned to more.
const pageSize = 4096

func (b *Binary) inspectGo(f *elf.File) error {
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return fmt.Errorf("read the executable's symbols: %w", err)
	}
	for _, s := range symbols {
		if s.Name == "runtime.gomaxprocs" && s.Size == 4 {
			b.Gomaxprocs = s.Value
			break
		}
	}
	for _, s := range f.Sections {
		// A stripped executable still has the names of its functions here.
		if strings.HasSuffix(s.Name, ".gopclntab") {
			scan(s, func(chunk []byte) bool {
				b.Pprof = b.Pprof || bytes.Contains(chunk, []byte("net/http/pprof.Index\x00"))
				b.Memlimit = b.Memlimit || bytes.Contains(chunk, []byte("github.com/millicore/millicore/maxprocs/memlimit."))
				return !b.Pprof || !b.Memlimit
			})
		}
	}
	return nil
}

func (b *Binary) inspectMarks(f *elf.File) {
	if names := f.Section(".dynstr"); names != nil {
		scan(names, func(chunk []byte) bool {
			b.NodeSymbol = b.NodeSymbol || bytes.Contains(chunk, []byte("_ZN4node5Start"))
			b.Python = b.Python || bytes.Contains(chunk, []byte("libpython"))
			return true
		})
	}
	if comment := f.Section(".comment"); comment != nil {
		scan(comment, func(chunk []byte) bool {
			find(&b.Rustc, rustcMark, chunk)
			return true
		})
	}
	data := f.Section(".rodata")
	if data == nil {
		return
	}
	hash := ""
	scan(data, func(chunk []byte) bool {
		find(&b.Node, nodeMark, chunk)
		find(&b.Bun, bunMark, chunk)
		find(&b.Deno, denoMark, chunk)
		find(&hash, rustcHash, chunk)
		find(&b.TokioVersion, tokioMark, chunk)
		find(&b.RayonVersion, rayonMark, chunk)
		b.Tokio = b.Tokio || bytes.Contains(chunk, []byte("TOKIO_WORKER_THREADS"))
		b.Rayon = b.Rayon || bytes.Contains(chunk, []byte("RAYON_NUM_THREADS"))
		return true
	})
	switch {
	case hash == "":
		b.Rustc = "" // a library's comment, not the program's
	case b.Rustc == "":
		b.Rustc = hash[:9]
	}
}

// find keeps the first match of a mark. It searches for the literal beginning first,
// which is a hundred times faster than the expression.
func find(into *string, mark *regexp.Regexp, chunk []byte) {
	if *into != "" {
		return
	}
	if literal, _ := mark.LiteralPrefix(); literal != "" && !bytes.Contains(chunk, []byte(literal)) {
		return
	}
	if mark == denoMark && !bytes.Contains(chunk, []byte("Deno/")) {
		return
	}
	if found := mark.FindSubmatch(chunk); found != nil {
		*into = string(found[1])
	}
}

// scan passes a section to more in chunks that overlap by more than a mark's length,
// until more returns false.
func scan(s *elf.Section, more func(chunk []byte) bool) {
	const step, overlap = 1 << 20, 256
	if s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 {
		return
	}
	size := int64(min(s.FileSize, maxScan))
	buffer := make([]byte, min(size, step+overlap))
	for at := int64(0); at < size; at += step {
		n, err := s.ReadAt(buffer, at)
		if n > 0 && !more(buffer[:n]) || err != nil && n == 0 {
			return
		}
	}
}
