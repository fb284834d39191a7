package supervise

import "sync"

// Workers counts the processes of a replica that end while its main process, the first of
// them, runs on. The zero value is ready. Several goroutines may use it.
type Workers struct {
	mu    sync.Mutex
	main  int
	known map[int]bool
	ended int64
}

// Ended takes the processes that run now, and returns how many have ended so far. One that
// begins and ends between two calls is not seen. With another main process the count goes
// on, without the processes of the one before.
func (w *Workers) Ended(pids []int) *int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := make(map[int]bool, len(pids))
	for _, pid := range pids {
		now[pid] = true
	}
	if len(pids) > 0 && pids[0] == w.main {
		for pid := range w.known {
			if !now[pid] {
				w.ended++
			}
		}
	}
	w.main, w.known = 0, now
	if len(pids) > 0 {
		w.main = pids[0]
	}
	return new(w.ended)
}
