package inspect

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/millicore/millicore/internal/host/procfiles"
)

// A stripped Go executable has no symbols, but it has the table from which the
// runtime prints stack traces, with every function's name and address. Only the
// function runtime.procresize sets gomaxprocs: it reads the old value and stores the
// new one through its address. So gomaxprocs is the variable of 4 bytes that this
// function both reads and takes the address of (observed on Go 1.23 to 1.26, amd64
// and arm64). If there is not exactly one such variable, the value is not known.
const setter = "runtime.procresize"

var (
	errNoTable = errors.New("its executable is stripped, and its table of Go functions has an unknown format")
	errNoCode  = errors.New("its executable is stripped, and its code does not show the address of the value")
)

// addressInCode finds the address of gomaxprocs.
func addressInCode(f *procfiles.ELF) (uint64, error) {
	section := f.Section(".gopclntab")
	if section == nil {
		return 0, errNoTable
	}
	table, err := f.Table(section, "Go's functions")
	if err != nil {
		return 0, err
	}
	begin, end, ok := function(table, f.ByteOrder, setter)
	if !ok {
		return 0, errNoTable
	}
	text, err := textStart(f, table)
	if err != nil {
		return 0, err
	}
	code, err := bytesAt(f, text+begin, end-begin)
	if err != nil {
		return 0, err
	}
	var reads, takes []uint64
	switch f.Machine {
	case elf.EM_X86_64:
		reads, takes = usesAMD64(code, text+begin)
	case elf.EM_AARCH64:
		reads, takes = usesARM64(code, text+begin)
	default:
		return 0, fmt.Errorf("its executable is stripped, and code for %s is not supported", f.Machine)
	}
	reads = slices.DeleteFunc(reads, func(a uint64) bool { return !slices.Contains(takes, a) || a%4 != 0 || !writable(f, a) })
	slices.Sort(reads)
	if reads = slices.Compact(reads); len(reads) != 1 {
		return 0, errNoCode
	}
	return reads[0], nil
}

// largest bounds the code of a function, in bytes.
const largest = 1 << 16

// function finds a function in Go's table by name and returns its begin and end
// relative to the start of Go's code. The format is that of Go 1.18 and later
// (internal/abi/symtab.go, runtime/symtab.go: pcHeader, functab, _func).
func function(table []byte, order binary.ByteOrder, name string) (begin, end uint64, ok bool) {
	if len(table) < 8 || table[7] != 8 { // 64-bit programs only
		return 0, 0, false
	}
	if magic := order.Uint32(table); magic != 0xfffffff0 && magic != 0xfffffff1 {
		return 0, 0, false
	}
	word := func(i uint64) uint64 {
		if at := 8 + 8*i; at+8 <= uint64(len(table)) {
			return order.Uint64(table[at:])
		}
		return 0
	}
	half := func(at uint64) uint64 {
		if at < uint64(len(table)) && at+4 <= uint64(len(table)) {
			return uint64(order.Uint32(table[at:]))
		}
		return 0
	}
	count, names, files, functions := word(0), word(3), word(4), word(7)
	size := uint64(len(table))
	if names > files || files > size || functions > size || count > (size-functions)/8 {
		return 0, 0, false
	}
	offset := bytes.Index(table[names:files], []byte("\x00"+name+"\x00"))
	if offset < 0 {
		return 0, 0, false
	}
	for i := range count {
		at := functions + 8*i
		if half(functions+half(at+4)+4) == uint64(offset+1) {
			begin, end = half(at), half(at+8)
			return begin, end, begin < end && end-begin <= largest
		}
	}
	return 0, 0, false
}

// textStart is the start of Go's code, to which the table's addresses are relative.
// Up to Go 1.25 the table contains it; later only the runtime's moduledata does
// (runtime/symtab.go), or, in a position-independent executable, its relocation.
func textStart(f *procfiles.ELF, table []byte) (uint64, error) {
	if module := f.Section(".go.module"); module != nil {
		const textWord = 22 * 8 // pcHeader, six slices, findfunctab, minpc, maxpc
		var word [8]byte
		if _, err := module.ReadAt(word[:], textWord); err != nil {
			return 0, err
		}
		if start := f.ByteOrder.Uint64(word[:]); start != 0 {
			return start, nil
		}
		return relocated(f, module.Addr+textWord)
	}
	if start := f.ByteOrder.Uint64(table[8+2*8:]); start != 0 {
		return start, nil
	}
	text := f.Section(".text")
	if text == nil {
		return 0, errNoTable
	}
	return text.Addr, nil
}

// relocated is the value that relocation gives to a word when the executable is
// loaded: the addend (elf(5), Elf64_Rela).
func relocated(f *procfiles.ELF, address uint64) (uint64, error) {
	list := f.Section(".rela.dyn")
	if list == nil {
		list = f.Section(".rela")
	}
	if list == nil {
		return 0, errNoTable
	}
	data, err := f.Table(list, "relocations")
	if err != nil {
		return 0, err
	}
	for ; len(data) >= 24; data = data[24:] {
		if f.ByteOrder.Uint64(data) == address {
			return f.ByteOrder.Uint64(data[16:]), nil
		}
	}
	return 0, errNoTable
}

// bytesAt reads the bytes that the file loads at an address.
func bytesAt(f *procfiles.ELF, address, size uint64) ([]byte, error) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && address >= p.Vaddr && address-p.Vaddr < p.Filesz && size <= p.Filesz-(address-p.Vaddr) {
			code := make([]byte, size)
			_, err := p.ReadAt(code, int64(address-p.Vaddr))
			return code, err
		}
	}
	return nil, errNoCode
}

// writable reports whether an address is in a writable segment.
func writable(f *procfiles.ELF, address uint64) bool {
	return slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool {
		return p.Type == elf.PT_LOAD && p.Flags&elf.PF_W != 0 && address >= p.Vaddr && address-p.Vaddr < p.Memsz
	})
}

// usesAMD64 lists the variables of 4 bytes that code reads, and those whose
// addresses it takes.
func usesAMD64(code []byte, at uint64) (reads, takes []uint64) {
	for len(code) > 0 {
		i, err := x86asm.Decode(code, 64)
		if err != nil || i.Len == 0 {
			return reads, takes
		}
		code, at = code[i.Len:], at+uint64(i.Len)
		m, ok := i.Args[1].(x86asm.Mem)
		if !ok || m.Base != x86asm.RIP || m.Index != 0 {
			continue
		}
		address := at + uint64(m.Disp)
		switch {
		case i.Op == x86asm.LEA:
			takes = append(takes, address)
		case (i.Op == x86asm.MOV || i.Op == x86asm.MOVSXD) && i.MemBytes == 4:
			reads = append(reads, address)
		}
	}
	return reads, takes
}

// usesARM64 does for arm64 what usesAMD64 does. An address is made of two instructions:
// ADRP for the page, then an offset in ADD, LDR (32 bits) or LDRSW.
// Arm Architecture Reference Manual, C6.2.
func usesARM64(code []byte, at uint64) (reads, takes []uint64) {
	var pages [32]uint64
	for ; len(code) >= 4; code, at = code[4:], at+4 {
		w := binary.LittleEndian.Uint32(code)
		to, from, offset := w&31, w>>5&31, uint64(w>>10&0xfff)
		switch {
		case w&0x9f000000 == 0x90000000: // ADRP
			high := int64(int32(w<<8)) >> 13 << 2 // 19 bits, with their sign
			pages[to] = at&^0xfff + uint64(high|int64(w>>29&3))<<12
			continue
		case w&0xffc00000 == 0xb9400000 || w&0xffc00000 == 0xb9800000: // LDR, LDRSW
			if pages[from] != 0 {
				reads = append(reads, pages[from]+offset*4)
			}
		case w&0xffc00000 == 0x91000000: // ADD
			if pages[from] != 0 {
				takes = append(takes, pages[from]+offset)
			}
		default:
			continue
		}
		pages[to] = 0
	}
	return reads, takes
}
