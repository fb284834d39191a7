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
)

// backup is the record as it stood after a trial, fetched while the run goes on:
// where the conductor's pod is lost, and kept its record in no volume that
// outlives it, that is what is left. It lies beside the record's folder, under a
// name that begins with a dot, and is gone when the record itself is there.
type backup struct {
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
	backupEvery = 20 * time.Second
	backupShare = 20 // times as long as the fetching took
)

func newBackup(f *Follower, out string) *backup {
	out = filepath.Clean(out)
	return &backup{follower: f, out: out, dir: filepath.Join(filepath.Dir(out), "."+filepath.Base(out)+"-so-far"), every: backupEvery}
}

// take fetches the record in the background where more trials have ended since it
// was fetched last. What goes wrong is not told: the record is fetched in the end.
func (b *backup) take(ctx context.Context, pod string, s conductor.State) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy || s.Done <= b.there || time.Now().Before(b.next) {
		return
	}
	b.busy = true
	b.under.Go(func() {
		began, newer := time.Now(), b.dir+"-"
		err := os.MkdirAll(filepath.Dir(b.dir), 0o755)
		if err == nil {
			err = b.follower.fetch(ctx, pod, filepath.Dir(b.dir), newer)
		}
		if err == nil {
			err = errors.Join(os.RemoveAll(b.dir), os.Rename(newer, b.dir))
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.busy, b.next = false, time.Now().Add(max(b.every, backupShare*time.Since(began)))
		if err == nil {
			b.there = s.Done
		}
	})
}

// use makes the backup the record, where there is one, and says so. It is called
// when the run is lost.
func (b *backup) use(lost error) (used bool, err error) {
	b.under.Wait()
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
	b.under.Wait()
	_ = os.RemoveAll(b.dir)
}
