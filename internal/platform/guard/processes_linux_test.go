package guard

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/proc"
)

// A new process belongs to the replica of its parent, however many new ones are between.
func TestNewProcessesBelongToTheReplicaOfTheirParent(t *testing.T) {
	p := &Processes[string]{Members: map[int]*Member[string]{}, listed: map[int]bool{}}
	p.Take(10, proc.Stat{Started: 1}, "web")
	p.Take(20, proc.Stat{Started: 1}, "db")
	fresh := map[int]proc.Stat{
		11: {Parent: 10}, 9: {Parent: 12}, 12: {Parent: 11}, // of web
		21: {Parent: 20},
		30: {Parent: 1}, 31: {Parent: 30}, // nobody's
	}
	p.descend(fresh)
	got := map[int]string{}
	for pid, m := range p.Members {
		got[pid] = m.Of
	}
	if d := cmp.Diff(map[int]string{9: "web", 10: "web", 11: "web", 12: "web", 20: "db", 21: "db"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{30, 31}, slices.Sorted(maps.Keys(fresh))); d != "" {
		t.Error("left: ", d)
	}
}
