package local

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/test/testkit"
)

func TestAgentIsAStreamInAGroupOfItsOwn(t *testing.T) {
	var mu sync.Mutex
	var notes []string
	p := open(t, Options{Agent: "/proc/self/exe", Note: func(note string) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, note)
	}})
	a, err := p.Agent(t.Context(), 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(a, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(a).ReadString('\n'); err != nil || line != "hello\n" {
		t.Fatalf("it said %q (%v)", line, err)
	}
	c, err := a.Counters()
	if err != nil || !c.Up || *c.CPU <= 0 || c.CPULimit != nil || c.MemoryLimit != nil {
		t.Errorf("counters %+v, %v", c, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Errorf("a second time: %v", err)
	}
	testkit.Until(t, "its last words", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.Contains(notes, "agent 1: the input ended")
	})
}

// On a full machine an agent runs before the service: a late request would be a delay of the
// agent, not of the service.
func TestAnAgentHasMoreWeightThanAService(t *testing.T) {
	p := open(t, Options{Agent: "/proc/self/exe"})
	a, err := p.Agent(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	service := weightOf(t, start(t, p, server(t.TempDir())).Replicas()[0].(*replica).group)
	if got := weightOf(t, a.(*agent).group); service <= 0 || got != 10*service {
		t.Errorf("the agent's CPU weight is %d, and the service's %d; want 10 times as much", got, service)
	}
}

// weightOf is the CPU weight of a group, in the kernel's unit.
func weightOf(t *testing.T, g *group.Group) (weight int) {
	t.Helper()
	for _, procs := range g.Joins() {
		for _, file := range []string{"cpu.shares", "cpu.weight"} {
			if text, err := os.ReadFile(filepath.Join(filepath.Dir(procs), file)); err == nil {
				if weight, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return weight
}

func TestAgentThatIsNotThere(t *testing.T) {
	p := open(t, Options{})
	t.Setenv("PATH", "/nonexistent")
	if _, err := p.Agent(t.Context(), 1, 0); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("error %v", err)
	}
	// It is known before anything starts. A benchmark needs none.
	cells := []experiment.Cell{{Load: experiment.Load{Rate: &experiment.Target{Value: 1}}}}
	if err := p.Check(&experiment.Experiment{Cells: cells}); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("error %v", err)
	}
	if err := p.Check(&experiment.Experiment{Cells: make([]experiment.Cell, 1)}); err != nil {
		t.Error(err)
	}
}
