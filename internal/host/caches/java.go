package caches

import (
	"encoding/binary"
	"strings"
)

// JavaHeap returns the maximum heap size of HotSpot's performance data (version 2;
// src/hotspot/share/runtime/perfMemory.hpp). The data begin with a prologue: the magic
// number 0xcafec0c0 (big endian), a byte that is 1 for little endian, the version in two
// bytes, and the offset and the number of the entries at 24 and 28. An entry has its
// length, the offset of its name, the length of a vector, its type in a byte, three more
// bytes, and the offset of its value.
//
// Serial and Parallel divide the heap into two generations. The other collectors have
// one heap for both, and each generation has its maximum.
func JavaHeap(data []byte) (most int64, ok bool) {
	if len(data) < 32 || binary.BigEndian.Uint32(data) != 0xcafec0c0 || data[5] != 2 {
		return 0, false
	}
	var order binary.ByteOrder = binary.BigEndian
	if data[4] == 1 {
		order = binary.LittleEndian
	}
	word := func(at int) int { return int(int32(order.Uint32(data[at:]))) }
	at, n := word(24), word(28)
	maxima := map[string]int64{}
	collector := ""
	for range min(max(n, 0), 1<<14) {
		if at < 0 || at+20 > len(data) {
			break
		}
		length, nameAt, valueAt := word(at), at+word(at+4), at+word(at+16)
		if length < 20 || at+length > len(data) || nameAt < at || nameAt > at+length || valueAt < at || valueAt > at+length {
			break
		}
		name, _, _ := strings.Cut(string(data[nameAt:at+length]), "\x00")
		switch {
		case (name == "sun.gc.generation.0.maxCapacity" || name == "sun.gc.generation.1.maxCapacity") && data[at+12] == 'J' && valueAt+8 <= at+length:
			maxima[name] = int64(order.Uint64(data[valueAt:]))
		case name == "sun.gc.collector.0.name":
			collector, _, _ = strings.Cut(string(data[valueAt:at+length]), "\x00")
		}
		at += length
	}
	var sum int64
	for _, bytes := range maxima {
		if bytes <= 0 || bytes > 1<<50 {
			return 0, false
		}
		sum, most = sum+bytes, max(most, bytes)
	}
	for _, divided := range []string{"Copy", "PSScavenge", "PCopy", "Serial", "Parallel"} {
		if strings.HasPrefix(collector, divided) {
			return sum, len(maxima) == 2
		}
	}
	return most, most > 0
}
