package local

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

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

func TestAgentThatIsNotThere(t *testing.T) {
	p := open(t, Options{})
	t.Setenv("PATH", "/nonexistent")
	if _, err := p.Agent(t.Context(), 1, 0); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("error %v", err)
	}
}
