// Package executable reads what an executable file shows of the runtime that it contains: Go's
// build information, and marks of Node.js, Bun, Deno and Rust in its data. It decides nothing.
package executable

import (
	"bytes"
	"debug/elf"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/millicore/millicore/internal/host/procfiles"
)

// What Facts keeps of Go's build information.
const (
	Automaxprocs   = "go.uber.org/automaxprocs"
	Automemlimit   = "github.com/KimMachineGun/automemlimit"
	DefaultGODEBUG = "DefaultGODEBUG"
)

func isNotable(module string) bool { return module == Automaxprocs || module == Automemlimit }

// Facts are what an executable shows. A part that it does not have is empty.
type Facts struct {
	Go         *debug.BuildInfo // only the modules and settings above
	Gomaxprocs uint64           // address of runtime.gomaxprocs in the file; 0: no symbol
	Pprof      bool             // net/http/pprof is linked in
	Memlimit   bool             // maxprocs/memlimit is linked in
	HeapInCode bool             // debug.SetMemoryLimit is, so its code can set GOMEMLIMIT
	Moved      bool             // position-independent: it is loaded at an offset, the bias
	Base       uint64           // address of the first segment in the file

	Node, Bun, Deno, Rustc string // versions found in it
	NodeSymbol             bool   // exports node::Start
	Tokio                  bool   // contains the name TOKIO_WORKER_THREADS
	Rayon                  bool   // contains the name RAYON_NUM_THREADS
	// Versions of the crates tokio and rayon-core, from the paths of their sources in
	// messages; "" in a program without those.
	TokioVersion, RayonVersion string
	Python                     bool // linked with libpython
}

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

// Read reads an executable. An error means that it is not a readable ELF file, or that it
// has something which no honest one has; the result is then what was read before.
func Read(f *procfiles.ELF) (b Facts, err error) {
	b.Moved = f.Type == elf.ET_DYN
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			b.Base = p.Vaddr &^ (pageSize - 1)
			break
		}
	}
	if b.Go = f.BuildInfo(isNotable, func(key string) bool { return key == DefaultGODEBUG }); b.Go != nil {
		err := b.inspectGo(f)
		return b, err
	}
	b.inspectMarks(f)
	return b, nil
}

// pageSize is the smallest of Linux's page sizes; segments are aligned to more.
const pageSize = 4096

func (b *Facts) inspectGo(f *procfiles.ELF) (err error) {
	if b.Gomaxprocs, err = f.Symbol("runtime.gomaxprocs", 4); err != nil {
		return err
	}
	for _, s := range f.Sections {
		// A stripped executable still has the names of its functions here.
		if strings.HasSuffix(s.Name, ".gopclntab") {
			f.Search(s, func(chunk []byte) bool {
				b.Pprof = b.Pprof || bytes.Contains(chunk, []byte("net/http/pprof.Index\x00"))
				b.Memlimit = b.Memlimit || bytes.Contains(chunk, []byte("github.com/millicore/millicore/maxprocs/memlimit."))
				b.HeapInCode = b.HeapInCode || bytes.Contains(chunk, []byte("runtime/debug.setMemoryLimit\x00"))
				return !b.Pprof || !b.Memlimit || !b.HeapInCode
			})
		}
	}
	return nil
}

func (b *Facts) inspectMarks(f *procfiles.ELF) {
	if names := f.Section(".dynstr"); names != nil {
		f.Search(names, func(chunk []byte) bool {
			b.NodeSymbol = b.NodeSymbol || bytes.Contains(chunk, []byte("_ZN4node5Start"))
			b.Python = b.Python || bytes.Contains(chunk, []byte("libpython"))
			return true
		})
	}
	if comment := f.Section(".comment"); comment != nil {
		f.Search(comment, func(chunk []byte) bool {
			find(&b.Rustc, rustcMark, chunk)
			return true
		})
	}
	data := f.Section(".rodata")
	if data == nil {
		return
	}
	hash := ""
	f.Search(data, func(chunk []byte) bool {
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
