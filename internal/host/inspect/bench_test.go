package inspect

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// thousand is a host with 1,000 processes in 1,000 groups, of so many programs.
func thousand(t testing.TB, programs int) tree {
	h := newTree(t)
	h.group("/", 0, 0, 0)
	h.group("/pods", 0, 0, 0)
	exe := self(t)
	for i := range 1000 {
		group := fmt.Sprintf("/pods/%064x", i)
		h.group(group, 2, 1000, 10)
		h.process(100+i, 1, "api", group, exe, "/app/api", "--program", fmt.Sprint(i%programs))
	}
	return h
}

// BenchmarkScan is a first scan of 1,000 processes. The promise is at most 1 s.
func BenchmarkScan(b *testing.B) {
	for _, programs := range []int{10, 1000} {
		b.Run(fmt.Sprintf("of %d programs", programs), func(b *testing.B) {
			h := thousand(b, programs)
			b.ReportAllocs()
			for b.Loop() {
				host, err := New(h.root).Scan(context.Background(), Only{}, 0)
				if err != nil || len(host.Processes) != 1000 {
					b.Fatalf("%d processes, %v", len(host.Processes), err)
				}
			}
		})
	}
}

// BenchmarkWatch is a scan of 1,000 processes with a watch that takes no time: all that is read
// at its beginning, in its only second, and at its end.
func BenchmarkWatch(b *testing.B) {
	h := thousand(b, 10)
	b.ReportAllocs()
	for b.Loop() {
		s, now := New(h.root), time.Unix(1000, 0)
		s.now = func() time.Time { return now }
		s.sleep = func(_ context.Context, d time.Duration) { now = now.Add(d) }
		host, err := s.Scan(context.Background(), Only{}, tick)
		if err != nil || len(host.Processes) != 1000 {
			b.Fatalf("%d processes, %v", len(host.Processes), err)
		}
	}
}

// BenchmarkLook is what top costs at each look at 1,000 groups, all known, over
// a whole round. The promise is at most 2% of a core at one look a second: 20 ms.
func BenchmarkLook(b *testing.B) {
	h := thousand(b, 10)
	w := New(h.root).Watch(Only{})
	defer w.Close()
	if seen, err := w.Look(); err != nil || len(seen) != 1000 {
		b.Fatalf("%d groups, %v", len(seen), err)
	}
	for _, closely := range []int{0, mostClosely} {
		b.Run(fmt.Sprintf("closely at %d", closely), func(b *testing.B) {
			seen, err := w.Look()
			if err != nil {
				b.Fatal(err)
			}
			var dirs []string
			for _, one := range seen[:closely] {
				dirs = append(dirs, one.Dir)
			}
			w.Closely(dirs)
			b.ReportAllocs()
			for b.Loop() {
				if seen, err = w.Look(); err != nil || len(seen) != 1000 {
					b.Fatalf("%d groups, %v", len(seen), err)
				}
			}
		})
	}
}
