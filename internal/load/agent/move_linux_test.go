package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/protocol"
)

// The lab moves the load, of 8 users with a connection each, as replicas come and
// go.
func TestMove(t *testing.T) {
	t.Parallel()
	first, second := startHostile(t, answering(fine)), startHostile(t, answering(fine))
	c := serve(t)
	p := openLoop(first.addr(), 8, 3600)
	p.Load.Kind = protocol.Closed
	if _, err := c.Prepare(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(time.Now()); err != nil {
		t.Fatal(err)
	}
	var moved int64 // connections made before the move
	n, connects := 0, int64(0)
	_, err := c.Follow(t.Context(), func(f *signals.Frame) error {
		n, connects = n+1, connects+f.Client.Connects
		switch n {
		case 2:
			moved = connects
			return c.Move([]string{first.addr(), second.addr()})
		case 6:
			return c.Move([]string{"", second.addr()})
		case 10:
			return c.Stop()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if moved != 8 || connects != 8+4+4 {
		t.Errorf("%d connections were made, %d of them before; want 8, 4 more to the second replica, and the other 4 when the first has gone", connects, moved)
	}
}

func TestAMoveToNowhere(t *testing.T) {
	t.Parallel()
	server := startHostile(t, answering(fine))
	c := serve(t)
	if _, err := c.Prepare(t.Context(), openLoop(server.addr(), 10, 1)); err != nil {
		t.Fatal(err)
	}
	if err := c.Move([]string{""}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Follow(t.Context(), func(*signals.Frame) error { return nil }); err == nil || !strings.Contains(err.Error(), "no targets") {
		t.Errorf("%v; want an error about the targets", err)
	}
}
