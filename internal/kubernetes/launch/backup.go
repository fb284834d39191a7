package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
)

// backup is a copy of the record after a trial, fetched while the run continues. It is
// used if the conductor's pod is lost and its record was not in a volume that outlives
// the pod. Its folder is beside the record's and has a dot and the run's name, so that
// a later command which resumes the run finds it. It is removed when the record itself
// was fetched.
type backup struct {
	ctx      context.Context // of fetching
	cancel   context.CancelFunc
	follower *Follower
	dir, out string // its folder, and the record's

	every time.Duration // least time between two fetches

	mu    sync.Mutex
	there int       // trials that have ended in the backup; 0: there is none
	next  time.Time // not before
	busy  bool
	under sync.WaitGroup
}

// A backup must cost little: large records are fetched less often.
const (
	backupEvery  = 20 * time.Second
	backupShare  = 20 // the pause is as many times as long as the fetching took
	backupWithin = 10 * time.Minute
)

func newBackup(ctx context.Context, f *Follower, out string) *backup {
	b := &backup{follower: f, out: filepath.Clean(out), every: backupEvery}
	b.ctx, b.cancel = context.WithCancel(ctx)
	b.dir = filepath.Join(filepath.Dir(b.out), "."+f.Run+"-so-far")
	if r, err := record.Own.Open(b.dir); err == nil { // of an earlier client
		for _, t := range r.Trials {
			if t.Outcome != record.Started {
				b.there++
			}
		}
	}
	return b
}

// take fetches the record in the background if more trials have ended since the last
// fetch. It ignores errors: the record is fetched again at the end of the run.
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

// fetch replaces the backup by the current record.
func (b *backup) fetch(pod string) error {
	ctx, cancel := context.WithTimeout(b.ctx, backupWithin)
	defer cancel()
	newer := b.dir + "-"
	if err := errors.Join(safefile.MkdirAll(filepath.Dir(b.dir), 0o755), safefile.For(newer, func() error { return os.RemoveAll(newer) })); err != nil {
		return err
	}
	if err := b.follower.fetch(ctx, pod, filepath.Dir(b.dir), newer); err != nil {
		return err
	}
	return safefile.For(b.dir, func() error { return errors.Join(os.RemoveAll(b.dir), os.Rename(newer, b.dir)) })
}

// end stops fetching and keeps the backup. It may be called again.
func (b *backup) end() {
	b.cancel()
	b.under.Wait()
}

// use makes the backup the record, if there is one. It is called when the run is lost;
// the error says so.
func (b *backup) use(lost error) (used bool, err error) {
	b.end()
	if b.there == 0 {
		return false, lost
	}
	err = safefile.For(b.out, func() error {
		if err := os.Remove(b.out); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
			return err
		}
		return os.Rename(b.dir, b.out)
	})
	if err != nil {
		return false, errors.Join(lost, err)
	}
	return true, fmt.Errorf("%w; %s has the record as last fetched, with %s", lost, b.out, display.Counted(int64(b.there), "trial"))
}

// drop removes the backup.
func (b *backup) drop() {
	b.end()
	_ = safefile.For(b.dir, func() error { return os.RemoveAll(b.dir) })
}
