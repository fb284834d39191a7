package procfiles

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// sparse is a file that states a size of terabytes: zeros with some bytes between them.
type sparse map[int64][]byte

func (s sparse) ReadAt(p []byte, at int64) (int, error) {
	if at >= 1<<42 {
		return 0, io.EOF
	}
	clear(p)
	for from, data := range s {
		if from < at+int64(len(p)) && at < from+int64(len(data)) {
			copy(p[max(0, from-at):], data[max(0, at-from):])
		}
	}
	return len(p), nil
}

// section is a header of a section in a test, elf.Section64 without the rest.
type section struct {
	kind         elf.SectionType
	name         uint32
	offset, size uint64
	link         uint32
}

// executable is an ELF file of 64 bits with these sections, whose names are in the second.
func executable(change func(*elf.Header64), sections ...section) sparse {
	const table = 64
	head := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Shoff: table, Ehsize: 64, Phentsize: 56, Shentsize: 64, Shnum: uint16(len(sections) + 1), Shstrndx: 1,
	}
	if change != nil {
		change(&head)
	}
	var b bytes.Buffer
	for _, part := range append([]any{head, elf.Section64{}}, headers(sections)...) {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return sparse{0: b.Bytes(), namesAt: []byte("\x00.names\x00.symtab\x00.strtab\x00.go.buildinfo\x00.gopclntab\x00")}
}

func headers(sections []section) (all []any) {
	for _, s := range sections {
		all = append(all, elf.Section64{Name: s.name, Type: uint32(s.kind), Addr: s.offset, Off: s.offset, Size: s.size, Link: s.link})
	}
	return all
}

// namesAt is where the names of sections are.
const namesAt = 1 << 16

// names is the section with the names of sections, of a usual size.
var names = section{elf.SHT_STRTAB, 1, namesAt, 64, 0}

// everything reads all that the package reads of an executable.
func everything(f *ELF) error {
	f.BuildInfo(func(string) bool { return true }, func(string) bool { return true })
	if _, err := f.Symbol("runtime.gomaxprocs", 4); err != nil {
		return err
	}
	for _, s := range f.Sections {
		f.Search(s, func([]byte) bool { return true })
	}
	if s := f.Section(".gopclntab"); s != nil {
		_, err := f.Table(s, "Go's functions")
		return err
	}
	return nil
}

// A file that has a few bytes, and states sizes of terabytes, costs little memory and is
// refused.
func TestSizesThatAFileStates(t *testing.T) {
	const huge = 20 << 30
	symbols := func(size, names uint64) sparse {
		file := executable(nil, section{elf.SHT_STRTAB, 1, namesAt, 64, 0}, section{elf.SHT_SYMTAB, 8, 1 << 20, size, 3}, section{elf.SHT_STRTAB, 16, 1 << 36, names, 0})
		return file
	}
	for name, test := range map[string]struct {
		file sparse
		want string // in the reason; "": none
	}{
		"usual":                       {executable(nil, names), ""},
		"without sections":            {executable(func(h *elf.Header64) { h.Shoff, h.Shnum, h.Shstrndx = 0, 0, 0 }), ""},
		"a table of symbols":          {symbols(huge, 100), "20 GiB of symbols"},
		"names of symbols":            {symbols(48, huge), "20 GiB of names of symbols"},
		"the largest tables":          {symbols(mostTable, mostTable), ""},
		"segments":                    {executable(func(h *elf.Header64) { h.Phoff, h.Phnum = 64, 65535 }, names), "65535 segments"},
		"the size of a segment":       {executable(func(h *elf.Header64) { h.Phoff, h.Phnum, h.Phentsize = 64, 1000, 65535 }, names), "segments of 65535 bytes"},
		"sections":                    {executable(func(h *elf.Header64) { h.Shnum = 60000 }, names), "60000 sections"},
		"the size of a section":       {executable(func(h *elf.Header64) { h.Shentsize = 65535 }, names), "sections of 65535 bytes"},
		"sections by the first":       {executable(func(h *elf.Header64) { h.Shnum = 0 }, names), "more than 8192 sections"},
		"names of sections":           {executable(nil, section{elf.SHT_STRTAB, 1, namesAt, huge, 0}), "20 GiB of names of sections"},
		"Go's functions":              {executable(nil, names, section{elf.SHT_PROGBITS, 38, 1 << 20, huge, 0}), "20 GiB of Go's functions"},
		"many sections to search":     {executable(nil, append([]section{names}, many(section{elf.SHT_PROGBITS, 0, 1 << 20, huge, 0}, 100)...)...), "of its executable would have to be read"},
		"Go's build information":      {build(huge, nil), ""},
		"a long version":              {build(huge, binary.AppendUvarint([]byte("\xff Go buildinf:\x08\x02"+strings.Repeat("\x00", 16)), 3<<30)), ""},
		"sections of 32 bits":         {sparse{0: append([]byte("\x7fELF\x01\x01\x01"), bytes.Repeat([]byte{0xff}, 45)...)}, "segments"},
		"a file with another content": {sparse{0: []byte("#!/bin/sh\n")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := Parse(test.file, everything)
			runtime.ReadMemStats(&after)
			refused, _ := errors.AsType[*Refused](err)
			if (refused != nil) != (test.want != "") || refused != nil && !strings.Contains(refused.Why, test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 192 {
				t.Errorf("it took %d MiB of memory", used)
			}
		})
	}
}

// build is an executable with build information in a segment of a size.
func build(size uint64, info []byte) sparse {
	const segments, at = 2048, 1 << 20
	file := executable(func(h *elf.Header64) { h.Phoff, h.Phnum = segments, 1 }, names, section{elf.SHT_PROGBITS, 24, at, size, 0})
	var b bytes.Buffer
	segment := elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: at, Vaddr: at, Filesz: size, Memsz: size}
	if err := binary.Write(&b, binary.LittleEndian, segment); err != nil {
		panic(err)
	}
	file[segments], file[at] = b.Bytes(), info
	return file
}

func many(s section, n int) (all []section) {
	for range n {
		all = append(all, s)
	}
	return all
}

// A variable is found wherever it is in the tables, in a piece or between two.
func TestSymbol(t *testing.T) {
	const entry, at = 24, 1 << 24
	for _, place := range []uint32{1, chunk - 5, 3 * chunk} {
		for _, n := range []uint64{1, chunk / entry, chunk/entry + 1} {
			file := executable(nil, names, section{elf.SHT_SYMTAB, 8, at, (n + 1) * entry, 3}, section{elf.SHT_STRTAB, 16, 1 << 36, 4 * chunk, 0})
			file[1<<36+int64(place)] = []byte("runtime.gomaxprocs\x00")
			var b bytes.Buffer
			if err := binary.Write(&b, binary.LittleEndian, elf.Sym64{Name: place, Value: 0x1234, Size: 4}); err != nil {
				t.Fatal(err)
			}
			file[at+int64(n)*entry] = b.Bytes()
			for name, want := range map[string]uint64{"runtime.gomaxprocs": 0x1234, "gomaxprocs": 0, "other": 0} {
				var got uint64
				err := Parse(file, func(f *ELF) (err error) {
					got, err = f.Symbol(name, 4)
					return err
				})
				if got != want || err != nil {
					t.Errorf("%s at %d, entry %d: got %#x, %v; want %#x", name, place, n, got, err, want)
				}
			}
		}
	}
}

// Of this program everything is found that is in it.
func TestParseOfThisProgram(t *testing.T) {
	file, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Skip("needs /proc")
	}
	defer file.Close()
	err = Parse(file, func(f *ELF) error {
		info := f.BuildInfo(func(name string) bool { return name == "golang.org/x/sys" }, func(name string) bool { return name == "GOOS" })
		if info == nil || info.GoVersion != runtime.Version() || len(info.Deps) > 1 || len(info.Settings) > 1 {
			return fmt.Errorf("got %+v", info)
		}
		table := f.Section(".gopclntab")
		if table == nil {
			return fmt.Errorf("it has no table of functions")
		}
		text, err := f.Table(table, "Go's functions")
		found := false
		f.Search(table, func(piece []byte) bool {
			found = found || bytes.Contains(piece, []byte("runtime.main\x00"))
			return true
		})
		if uint64(len(text)) != table.FileSize || !found {
			return fmt.Errorf("%d bytes of functions, found %t, %v", len(text), found, err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// FuzzParse passes arbitrary files to everything that is read of an executable.
func FuzzParse(f *testing.F) {
	if self, err := os.ReadFile("/bin/true"); err == nil {
		f.Add(self[:min(len(self), 4<<10)])
	}
	for _, file := range []sparse{executable(nil, names), executable(nil, names, section{elf.SHT_SYMTAB, 8, 1 << 10, 240, 1}, section{elf.SHT_PROGBITS, 24, 64, 256, 0})} {
		text := make([]byte, namesAt+64)
		if _, err := file.ReadAt(text, 0); err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file := bytes.NewReader(text)
		_ = Parse(file, everything)
	})
}
