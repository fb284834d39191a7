package procfiles

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"runtime/debug"
	"slices"

	"github.com/millicore/millicore/internal/data/display"
)

// Bounds of an executable. Those of ordinary ones are far lower: Node.js has 38 sections
// and 11 segments, 0.5 KB of section names, and read-only data of 47 MB. A table costs
// its size in memory; the largest known one is Terraform's of Go functions, 26 MB.
const (
	mostSections = 8192
	mostSegments = 1024
	mostNames    = 16 << 20 // sections times the size of their names: each name is copied
	mostTable    = 64 << 20
	mostSearch   = 256 << 20 // of a section that is only searched
	mostBuild    = 4 << 20   // that is read to find and read Go's build information
	mostRead     = 1 << 30   // of one file
	chunk        = 1 << 20   // a search holds so much at a time
)

// ELF is an executable file whose headers have plausible sizes. A file can state any size:
// a sparse one of some MB has room for a table of many GB.
type ELF struct {
	*elf.File
	in *bounded
}

// Parse parses an executable and passes it to use, within the bounds. An error that is not a
// Refused means that it is not an ELF file, or that it could not be read.
func Parse(file io.ReaderAt, use func(*ELF) error) (err error) {
	defer func() {
		// debug/elf and debug/buildinfo are not hardened against malicious files, and any
		// process may have one.
		if p := recover(); p != nil {
			err = refuse("its executable is malformed (%v)", p)
		}
	}()
	in := &bounded{from: file, left: mostRead}
	if err := plausible(in); err != nil {
		return err
	}
	f, err := elf.NewFile(in)
	if err == nil {
		err = use(&ELF{f, in})
	}
	if in.over {
		return refuse("more than %s of its executable would have to be read", display.Bytes(mostRead))
	}
	return err
}

// bounded reads at most so many bytes in all.
type bounded struct {
	from io.ReaderAt
	left int64
	over bool
}

func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		b.over = true
		return 0, io.ErrUnexpectedEOF
	}
	return b.from.ReadAt(p, at)
}

// plausible checks the sizes in the headers before debug/elf makes room for them (elf(5)).
// It leaves everything else to debug/elf.
func plausible(file io.ReaderAt) error {
	var head [64]byte
	if n, err := file.ReadAt(head[:], 0); n < 52 { // the header of 32 bits
		if err == io.EOF || err == nil {
			err = errors.New("its executable is not an ELF file")
		}
		return err
	}
	if string(head[:4]) != elf.ELFMAG {
		return nil
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	half := func(at int) uint64 { return uint64(order.Uint16(head[at:])) }
	table, segment, segments, size, count, names := uint64(order.Uint32(head[32:])), half(42), half(44), half(46), half(48), half(50)
	wantSegment, wantSize, sizeAt, sizeLength := uint64(32), uint64(40), uint64(20), 4
	if elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS64 {
		table, segment, segments, size, count, names = order.Uint64(head[40:]), half(54), half(56), half(58), half(60), half(62)
		wantSegment, wantSize, sizeAt, sizeLength = 56, 64, 32, 8
	}
	switch {
	case segments > mostSegments || segments > 0 && segment != wantSegment:
		return refuse("its executable has %d segments of %d bytes", segments, segment)
	case table > 0 && count == 0: // more than 65,279: the number is in the first section
		return refuse("its executable has more than %d sections", mostSections)
	case count > mostSections || count > 0 && size != wantSize:
		return refuse("its executable has %d sections of %d bytes", count, size)
	case count == 0 || names == 0 || names >= count:
		return nil
	}
	var word [8]byte
	if _, err := file.ReadAt(word[:sizeLength], int64(table+names*size+sizeAt)); err != nil {
		return err
	}
	length := uint64(order.Uint32(word[:]))
	if sizeLength == 8 {
		length = order.Uint64(word[:])
	}
	if length > mostNames/count {
		return refuse("its executable has %s of names of sections", display.Bytes(float64(length)))
	}
	return nil
}

// BuildInfo is Go's build information: the version, and those modules and settings that
// keep selects. It is nil if there is none.
func (f *ELF) BuildInfo(module, setting func(name string) bool) *debug.BuildInfo {
	in := &bounded{from: f.in, left: mostBuild}
	info, err := buildinfo.Read(in)
	if err != nil {
		return nil
	}
	kept := &debug.BuildInfo{GoVersion: info.GoVersion}
	for _, dep := range info.Deps {
		if module(dep.Path) {
			kept.Deps = append(kept.Deps, dep)
		}
	}
	for _, s := range info.Settings {
		if setting(s.Key) {
			kept.Settings = append(kept.Settings, s)
		}
	}
	return kept
}

// Table reads a whole section. what names it in an error.
func (f *ELF) Table(s *elf.Section, what string) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 {
		return nil, errors.New("its executable has an unknown format")
	}
	if err := fits(s, what); err != nil {
		return nil, err
	}
	text := make([]byte, s.FileSize)
	_, err := io.ReadFull(io.NewSectionReader(s, 0, int64(s.FileSize)), text)
	return text, err
}

// fits checks the size of a section that is read whole.
func fits(s *elf.Section, what string) error {
	if s.FileSize > mostTable {
		return refuse("its executable has %s of %s, more than %s", display.Bytes(float64(s.FileSize)), what, display.Bytes(mostTable))
	}
	return nil
}

// Search passes a section to more in pieces that overlap by 256 bytes, more than a mark has,
// until more returns false. It ends after 256 MiB.
func (f *ELF) Search(s *elf.Section, more func(piece []byte) bool) {
	const overlap = 256
	if s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 {
		return
	}
	size := int64(min(s.FileSize, mostSearch))
	buffer := make([]byte, min(size, chunk+overlap))
	for at := int64(0); at < size; at += chunk {
		n, err := s.ReadAt(buffer, at)
		if n > 0 && !more(buffer[:n]) || err != nil && n == 0 {
			return
		}
	}
}

// Symbol finds the address of a variable by its name and size, without holding the table of
// symbols; 0 if it is not in there.
func (f *ELF) Symbol(name string, size uint64) (address uint64, err error) {
	table := f.SectionByType(elf.SHT_SYMTAB)
	if table == nil || f.Class != elf.ELFCLASS64 || int(table.Link) >= len(f.Sections) {
		return 0, nil
	}
	strings := f.Sections[table.Link]
	if err := cmp.Or(fits(table, "symbols"), fits(strings, "names of symbols")); err != nil {
		return 0, err
	}
	places := f.places(strings, name)
	if len(places) == 0 {
		return 0, nil
	}
	const entry = 24 // name in 4 bytes, info, other, section in 2, value in 8, size in 8 (elf(5), Elf64_Sym)
	buffer := make([]byte, min(table.FileSize, chunk/entry*entry))
	for at := int64(0); at < int64(table.FileSize); at += int64(len(buffer)) {
		n, err := table.ReadAt(buffer, at)
		if n < entry {
			return 0, err
		}
		for data := buffer[:n/entry*entry]; len(data) > 0; data = data[entry:] {
			if f.ByteOrder.Uint64(data[16:]) == size && slices.Contains(places, f.ByteOrder.Uint32(data)) {
				return f.ByteOrder.Uint64(data[8:]), nil
			}
		}
	}
	return 0, nil
}

// places are where a name begins in a table of names. More than a few are no linker's work.
func (f *ELF) places(table *elf.Section, name string) (all []uint32) {
	const most = 16
	want := append([]byte(name), 0)
	at := uint32(0)
	f.Search(table, func(piece []byte) bool {
		for from := 0; from < min(len(piece), chunk) && len(all) < most; {
			found := bytes.Index(piece[from:], want)
			if found < 0 || from+found >= chunk { // the rest is in the next piece too
				break
			}
			all = append(all, at+uint32(from+found))
			from += found + len(want)
		}
		at += chunk
		return len(all) < most
	})
	return all
}
