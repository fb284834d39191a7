package lab

import (
	"errors"
	"sync"
)

// failures collects the errors of several goroutines in the order in which they occur:
// the first is usually the cause of the others.
type failures struct {
	mu   sync.Mutex
	errs []error
}

func (f *failures) add(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs = append(f.errs, err)
}

// first is the error that occurred first; nil: none.
func (f *failures) first() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.errs) == 0 {
		return nil
	}
	return f.errs[0]
}

func (f *failures) joined() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
}
