package cgroup

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestRealReaderAllocatesNothing(t *testing.T) {
	allocatesNothing(t, newRealGroup(t).open(t))
}

// BenchmarkReadThrottling compares a reading of cpu.stat on an open file with
// opening the file each time. The promise is at most 3 us and no allocation.
func BenchmarkReadThrottling(b *testing.B) {
	r := newRealGroup(b)
	limitCPU(b, r.version, r.dir(b, CPU), 50000)
	var s CPUStat
	b.Run("pread", func(b *testing.B) {
		reader := r.open(b)
		b.ReportAllocs()
		b.ResetTimer()
		for i := 0; i < b.N; i++ {
			if err := reader.ReadThrottling(&s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("open-read-close", func(b *testing.B) {
		name := filepath.Join(r.dir(b, CPU), "cpu.stat")
		b.ReportAllocs()
		for i := 0; i < b.N; i++ {
			f, err := os.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			data, err := io.ReadAll(f)
			if err != nil {
				b.Fatal(err)
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
			if err := parseCPUStat(data, &s); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRead is what each kind of reading costs with all its files.
func BenchmarkRead(b *testing.B) {
	for name, read := range readings(newRealGroup(b).open(b)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParse is the part of a reading that is not the kernel's.
func BenchmarkParse(b *testing.B) {
	stat := []byte("nr_periods 101\nnr_throttled 97\nthrottled_time 9312207143\nnr_bursts 0\nburst_time 0\n")
	var s CPUStat
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		if err := parseCPUStat(stat, &s); err != nil {
			b.Fatal(err)
		}
	}
}
