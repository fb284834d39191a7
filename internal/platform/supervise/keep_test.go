package supervise

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// run is an instance that ends when the test ends it.
type run struct {
	ended chan struct{}
	ran   time.Duration
}

func newRun() *run { return &run{ended: make(chan struct{})} }

func (r *run) Ended() <-chan struct{} { return r.ended }
func (r *run) Ran() time.Duration     { return r.ran }

// kept is a replica whose launches the test decides.
type kept struct {
	Keeper[*run]
	mu       sync.Mutex
	launched []time.Duration // since the first start
	cleaned  int
	now      *run
	failing  int // launches that fail from now on
}

func newKept(t *testing.T) *kept {
	log, err := OpenLog(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.File.Close() })
	began := time.Now()
	k := &kept{now: newRun()}
	k.Keeper = Keeper[*run]{Log: log, Backoff: Backoff{First: time.Second},
		Launch: func(context.Context) (*run, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.launched = append(k.launched, time.Since(began))
			if k.failing > 0 {
				k.failing--
				return nil, errors.New("no such program")
			}
			k.now = newRun()
			return k.now, nil
		},
		Ready: func(context.Context, *run) error { return nil },
		Clean: func(*run) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.cleaned++
		},
		Ending: func(*run) string { return "it ended with exit status 1" },
		Where:  func() string { return "" },
	}
	k.Begin(t.Context())
	return k
}

// status is whether the replica is up, and how often it was restarted.
func (k *kept) status() (up bool, restarts int64) {
	c, _ := k.Status.Counters(signals.Counters{}, nil)
	return c.Up, c.Restarts
}

func (k *kept) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.now.ended)
}

func TestAReplicaIsRestartedAfterEachEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t)
		if err := KeepAll(t.Context(), 0, []*Keeper[*run]{&k.Keeper}, []*run{k.now}); err != nil {
			t.Fatal(err)
		}
		if how, output := k.LastEnd(); how != "" || output != "" {
			t.Errorf("%q%q before an end", how, output)
		}
		if _, err := k.Log.File.WriteString("its last words\n"); err != nil {
			t.Fatal(err)
		}
		k.end()
		synctest.Wait()
		if how, output := k.LastEnd(); how != "it ended with exit status 1" || !strings.HasSuffix(output, ":\n\tits last words") {
			t.Errorf("%q%q after an end", how, output)
		}
		k.mu.Lock()
		if up, _ := k.status(); up || k.cleaned != 1 {
			t.Errorf("up %v, cleaned %d times after an end; want down and once", up, k.cleaned)
		}
		k.mu.Unlock()
		time.Sleep(1500 * time.Millisecond) // restarted after one second
		synctest.Wait()
		if up, _ := k.status(); !up {
			t.Error("it is not up after its restart")
		}
		k.mu.Lock()
		k.failing = 1
		k.mu.Unlock()
		k.end() // after two seconds a failing launch, after four more one that succeeds
		time.Sleep(7 * time.Second)
		synctest.Wait()
		want := []time.Duration{SettleTime + time.Second, SettleTime + 3500*time.Millisecond, SettleTime + 7500*time.Millisecond}
		k.mu.Lock()
		launched := k.launched
		k.mu.Unlock()
		if up, restarts := k.status(); !up || restarts != 3 || len(launched) != len(want) {
			t.Fatalf("up %v, %d restarts, launched at %v; want up, 3, %v", up, restarts, launched, want)
		}
		for i := range want {
			if launched[i] != want[i] {
				t.Errorf("launch %d at %v, want %v", i, launched[i], want[i])
			}
		}
		k.Stop()
		if up, _ := k.status(); up {
			t.Error("it is up after Stop")
		}
		select {
		case <-k.Kept():
		default:
			t.Error("Stop returned before the keeping ended")
		}
		text, err := os.ReadFile(k.Log.File.Name())
		if err != nil || strings.Count(string(text), "restarting it in") != 3 || !strings.Contains(string(text), "it could not be started") {
			t.Errorf("log %q, %v", text, err)
		}
	})
}

func TestAUnitThatEndsBeforeItIsReadyIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, bad := newKept(t), newKept(t)
		good.Ready = func(ctx context.Context, _ *run) error { <-ctx.Done(); return ctx.Err() }
		bad.end() // within SettleTime
		err := KeepAll(t.Context(), time.Minute, []*Keeper[*run]{&good.Keeper, &bad.Keeper}, []*run{good.now, bad.now})
		if !errors.Is(err, ErrDied) || !strings.Contains(err.Error(), "replica 1") || !strings.Contains(err.Error(), "exit status 1") {
			t.Errorf("error %v, want that replica 1 ended", err)
		}
		if good.Kept() != nil || bad.Kept() != nil {
			t.Error("replicas of a unit that failed are kept")
		}
		good.Stop()
		bad.Stop()
	})
}
