package record

import (
	"fmt"
	"runtime"
	"runtime/metrics"
)

// Bounds of the memory that reading a record takes: a gigabyte and some for each byte that
// was read, up to a multiple of the size. A histogram that takes 190 KB of memory can be
// written in sixty bytes, and the sums of each trial keep four. In the record of a run, a
// trial of a second has 4 KB of lines, and its sums take 480 KB if latencies reach 10 s.
const (
	leastMemory   = 1 << 30
	memoryPerByte = 128
	memoryShare   = 8 // of the size
	memoryEvery   = 64 << 10
)

// memory is a bound of the memory that a record's reading takes.
type memory struct {
	before int64 // bytes of the program's objects, when the reading began
	read   int64 // bytes of lines
	next   int64 // of read, when the memory is looked at again
}

// grow counts a line, and reports too much memory at times.
func (m *memory) grow(b Reader, line int) error {
	m.read += int64(line)
	if b.Size == 0 || m.read < m.next {
		return nil
	}
	m.next = m.read + memoryEvery
	most := b.mostMemory(m.read)
	if objects()-m.before <= most {
		return nil
	}
	runtime.GC() // most of it may be garbage
	if objects()-m.before <= most {
		return nil
	}
	return b.tooLarge(fmt.Sprintf("reading it takes more than %d MiB of memory", most>>20))
}

// mostMemory is the memory that the reading of some bytes of a record may take.
func (b Reader) mostMemory(read int64) int64 {
	if b.memory > 0 {
		return b.memory
	}
	scale := max(b.Size, DefaultSize) / DefaultSize
	return min(scale*(leastMemory+memoryPerByte*read), memoryShare*scale*DefaultSize)
}

// objects is the size of the program's objects in bytes, with those that are garbage
// already and not yet found to be.
func objects() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
