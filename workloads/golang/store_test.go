package golang

import (
	"slices"
	"strconv"
	"sync"
	"testing"
)

func TestMemoryKeepsTheNewest(t *testing.T) {
	for _, c := range []struct {
		name    string
		inserts int
		want    []string // sorted
	}{
		{"nothing yet", 0, nil},
		{"fewer than it keeps", 2, []string{"0", "1"}},
		{"as many as it keeps", 3, []string{"0", "1", "2"}},
		{"one more", 4, []string{"1", "2", "3"}},
		{"once round and on", 8, []string{"5", "6", "7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewMemory(3)
			for i := range c.inserts {
				if err := m.Insert(t.Context(), Device{ID: strconv.Itoa(i)}); err != nil {
					t.Fatal(err)
				}
			}
			var have []string
			for _, d := range m.devices {
				have = append(have, d.ID)
			}
			slices.Sort(have)
			if !slices.Equal(have, c.want) {
				t.Errorf("keeps %v, want %v", have, c.want)
			}
		})
	}
}

func TestMemoryTakesInsertsAtOnce(t *testing.T) {
	const workers, each, kept = 8, 100, 50
	m := NewMemory(kept)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				_ = m.Insert(t.Context(), Device{})
			}
		})
	}
	all.Wait()
	if len(m.devices) != kept || m.oldest != (workers*each-kept)%kept {
		t.Errorf("keeps %d, oldest at %d; want %d, %d", len(m.devices), m.oldest, kept, (workers*each-kept)%kept)
	}
}
