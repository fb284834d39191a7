package reach

import "github.com/millicore/millicore/internal/platform/attached"

// Observed is the process that serves the requests, and is observed during the load.
type Observed struct {
	*attached.Observed        // nil: no process is observed
	Name               string // in words
	process            *attached.Process
}

// Observe starts to observe a process.
func Observe(pid int, name string) (Observed, error) {
	process, _ := attached.Watch(pid) // first, so that both are the same process; fails on old kernels
	o, err := attached.Observe(pid)
	observed := Observed{Observed: o, Name: name, process: process}
	if err != nil {
		observed.Close()
		return Observed{}, err
	}
	return observed, nil
}

// Ended returns a function that reports whether the process has ended; nil if that
// cannot be determined.
func (o Observed) Ended() func() bool {
	if o.process == nil {
		return nil
	}
	return o.process.Ended
}

// Close ends the observation.
func (o Observed) Close() {
	if o.Observed != nil {
		o.Observed.Close()
	}
	if o.process != nil {
		o.process.Close()
	}
}
