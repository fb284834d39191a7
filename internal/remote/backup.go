package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/conductor"
	"github.com/millicore/millicore/internal/record"
)

// backup is the record as it stood after a trial, fetched while the run goes on:
// where the conductor's pod is lost, and kept its record in no volume that
// outlives it, that is what is left. It lies beside the record's folder, under the
// run's name and a dot, so that whoever takes the run up again has it too, and is
// gone when the record itself is there.
type backup struct {
	ctx      context.Context // of what is fetched
	cancel   context.CancelFunc
	follower *Follower
	dir, out string // its folder, and the record's

	every time.Duration // the shortest time between two

	mu    sync.Mutex
	there int       // trials that had ended in the one that is there; 0: there is none
	next  time.Time // not before
	busy  bool
	under sync.WaitGroup
}

// A record is fetched as often as costs little beside the run: a large one seldom.
const (
	backupEvery  = 20 * time.Second
	backupShare  = 20 // times as long as the fetching took
	backupWithin = 10 * time.Minute
)

func newBackup(ctx context.Context, f *Follower, out string) *backup {
	b := &backup{follower: f, out: filepath.Clean(out), every: backupEvery}
	b.ctx, b.cancel = context.WithCancel(ctx)
	b.dir = filepath.Join(filepath.Dir(b.out), "."+f.Run+"-so-far")
	if r, err := record.Open(b.dir); err == nil { // another client's
		for _, t := range r.Trials {
			if t.Outcome != record.Started {
				b.there++
			}
		}
	}
	return b
}

// take fetches the record in the background where more trials have ended since it
// was fetched last. What goes wrong is not told: the record is fetched in the end.
func (b *backup) take(pod string, s conductor.State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy || s.Done <= b.there || time.Now().Before(b.next) || b.ctx.Err() != nil {
		return
	}
	b.busy = true
	b.under.Go(func() {
		began := time.Now()
		err := b.fetch(pod)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.busy, b.next = false, time.Now().Add(max(b.every, backupShare*time.Since(began)))
		if err == nil {
			b.there = s.Done
		}
	})
}

// fetch puts the record as it is now in the place of the one that is there.
func (b *backup) fetch(pod string) error {
	ctx, cancel := context.WithTimeout(b.ctx, backupWithin)
	defer cancel()
	newer := b.dir + "-"
	if err := errors.Join(os.MkdirAll(filepath.Dir(b.dir), 0o755), os.RemoveAll(newer)); err != nil {
		return err
	}
	if err := b.follower.fetch(ctx, pod, filepath.Dir(b.dir), newer); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(b.dir), os.Rename(newer, b.dir))
}

// end ends the taking; what is there stays. It may be called again.
func (b *backup) end() {
	b.cancel()
	b.under.Wait()
}

// use makes the backup the record, where there is one, and says so. It is called
// when the run is lost.
func (b *backup) use(lost error) (used bool, err error) {
	b.end()
	if b.there == 0 {
		return false, lost
	}
	if err := os.Remove(b.out); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return false, errors.Join(lost, err)
	}
	if err := os.Rename(b.dir, b.out); err != nil {
		return false, errors.Join(lost, err)
	}
	return true, fmt.Errorf("%w; %s holds what was fetched while it went on, %d of its trials", lost, b.out, b.there)
}

// drop removes the backup.
func (b *backup) drop() {
	b.end()
	_ = os.RemoveAll(b.dir)
}
