package golang

import (
	"context"
	"sync"
	"time"
)

// Store keeps devices. Insert is called by many requests at once; its error
// becomes the client's 503.
type Store interface {
	Insert(ctx context.Context, d Device) error
}

// Database is a Store behind connections.
type Database interface {
	Store
	// Prepare makes what the store needs in the database, where it is missing.
	Prepare(ctx context.Context) error
	// Close closes the connections, and awaits those in use for as long as ctx
	// does.
	Close(ctx context.Context)
}

// Await prepares a database that may be starting still: it tries until it
// succeeds or until ctx is done, and then returns why the last attempt failed.
// It retries after any error, because the errors of a database that starts (refused, "is
// starting up", an unknown name) can hardly be distinguished from others.
func Await(ctx context.Context, db Database) error {
	const (
		attempt = 5 * time.Second // some hang while the database starts
		pause   = 200 * time.Millisecond
	)
	var failed error
	for {
		limited, cancel := context.WithTimeout(ctx, attempt)
		err := db.Prepare(limited)
		cancel()
		if err == nil {
			return nil
		}
		if failed == nil || ctx.Err() == nil { // an attempt that was cut off adds no information
			failed = err
		}
		select {
		case <-ctx.Done():
			return failed
		case <-time.After(pause):
		}
	}
}

// Kept is how many devices the service keeps in memory: some 2 MB when full.
const Kept = 10_000

// Memory is a Store that keeps the newest devices and forgets the oldest, so
// that what grows under overload is the queue of requests, which is what an
// experiment wants to see, and not a list that grows at any load.
type Memory struct {
	mu      sync.Mutex
	devices []Device // a ring once it is full
	oldest  int      // index of the oldest device in a full ring
	limit   int
}

// NewMemory returns a Memory that keeps the newest limit devices; limit is at
// least 1. It takes their memory as they come.
func NewMemory(limit int) *Memory {
	return &Memory{limit: limit}
}

// Insert keeps d. It never fails.
func (m *Memory) Insert(_ context.Context, d Device) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.devices) < m.limit {
		m.devices = append(m.devices, d)
		return nil
	}
	m.devices[m.oldest] = d
	m.oldest = (m.oldest + 1) % m.limit
	return nil
}
