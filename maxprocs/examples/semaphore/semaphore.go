package main

import "sync"

// Semaphore admits so many holders at a time, which can be changed while it is
// in use.
type Semaphore struct {
	mu    sync.Mutex
	freed sync.Cond
	slots int
	held  int
}

// NewSemaphore returns a Semaphore of so many slots.
func NewSemaphore(slots int) *Semaphore {
	s := &Semaphore{slots: slots}
	s.freed.L = &s.mu
	return s
}

// Acquire waits for a slot.
func (s *Semaphore) Acquire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.held >= s.slots {
		s.freed.Wait()
	}
	s.held++
}

// Release gives a slot back.
func (s *Semaphore) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
	s.freed.Signal()
}

// Resize changes how many slots there are. Where there are fewer than are held,
// nobody is admitted until enough have been given back.
func (s *Semaphore) Resize(slots int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = slots
	s.freed.Broadcast()
}
