// Package profile takes profiles of a service in a trial of its own, at the
// breaking point and outside what is measured, and reads them back: where the
// CPU time goes (Top) and what goroutines wait for (Waits).
//
// Of a Go service that serves /debug/pprof/ CollectGo fetches a CPU profile and
// a runtime trace. Node.js is profiled by a script that PrepareNode puts before
// the service's own; it writes when the process is told to end. The package
// starts and ends no process, and needs no tool beside it: the files are the
// usual ones, for `go tool pprof`, `go tool trace` and Chrome's DevTools.
package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Names of the files in a profile's folder.
const (
	CPUFile   = "cpu.pprof"
	TraceFile = "trace.out"
	// NodeFiles is the pattern of what Node's processes write, one each.
	NodeFiles = "*.cpuprofile"
)

// Profile is what the files of one cell's folder say.
type Profile struct {
	Runtime string  `json:"runtime"` // "go", "node"
	Seconds float64 `json:"seconds"` // that the CPU profile spans
	// BusySeconds is the CPU time in the profile: of all threads in Go, of the
	// event loops in Node.
	BusySeconds float64    `json:"busy_seconds"`
	Top         []Function `json:"top"`   // by SelfShare, the largest first
	Waits       []Wait     `json:"waits"` // by TotalMS, the largest first; nil: no trace
	Files       []string   `json:"files"` // that were read, names in the folder
	Notes       []string   `json:"notes"` // what else should be known, a sentence each
}

// Function is one function with its part of the CPU time. Shares are 0..1 of
// BusySeconds.
type Function struct {
	Name      string  `json:"name"`
	File      string  `json:"file,omitempty"` // with the line at which it begins, where known
	SelfShare float64 `json:"self_share"`     // in itself
	CumShare  float64 `json:"cum_share"`      // in itself and what it calls
	SelfMS    float64 `json:"self_ms"`
}

// Wait is one thing that goroutines waited for, over all of them. A wait that
// lasted beyond the trace counts up to its end.
type Wait struct {
	Name    string  `json:"name"`
	TotalMS float64 `json:"total_ms"`
	P50us   float64 `json:"p50_us"`
	P99us   float64 `json:"p99_us"`
	Count   int64   `json:"count"`
}

// kept is how many functions Top has at most.
const kept = 25

// maxFile bounds a profile's file in bytes, as it is fetched and unpacked.
const maxFile = 256 << 20

// ErrNone: the folder has no profile.
var ErrNone = errors.New("no profile was written")

// Read reads the profiles in a folder. A file that is cut short or broken is a
// note as long as another one says something; ErrNone means that there is none.
func Read(dir string) (*Profile, error) {
	p := &Profile{Top: []Function{}, Files: []string{}, Notes: []string{}}
	var errs []error
	tally := func(runtime, name string, read func(path string) error) {
		err := guarded(filepath.Join(dir, name), read)
		if errors.Is(err, os.ErrNotExist) {
			return
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("read the profile %s: %w", name, err))
			return
		}
		p.Runtime = cmp.Or(p.Runtime, runtime)
		p.Files = append(p.Files, name)
	}
	tally("go", CPUFile, p.readPprof)
	tally("go", TraceFile, p.readTrace)

	names, _ := filepath.Glob(filepath.Join(dir, NodeFiles))
	slices.Sort(names)
	var parts []part
	for _, name := range names {
		tally("node", filepath.Base(name), func(path string) error {
			part, err := readCPUProfile(path)
			parts = append(parts, part)
			return err
		})
	}
	if len(p.Top) == 0 {
		p.mergeNode(parts)
	}

	if len(p.Files) == 0 {
		if len(errs) > 0 {
			return nil, errors.Join(errs...)
		}
		return nil, fmt.Errorf("%w into %s", ErrNone, dir)
	}
	for _, err := range errs {
		p.Notes = append(p.Notes, err.Error())
	}
	return p, nil
}

// guarded reads one file. A service, or whoever wrote into the folder, made it:
// a decoder that stumbles over it must not take the report down.
func guarded(path string, read func(path string) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it is malformed: %v", r)
		}
	}()
	return read(path)
}

// readAll reads a file up to the bound; over bounds it is an error.
func readAll(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err == nil && len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %d MB", maxFile>>20)
	}
	return data, err
}

// costs adds up CPU time by function, in nanoseconds.
type costs struct {
	self, cum map[Function]int64 // keys have a name and a file only
	total     int64
}

func newCosts() costs {
	return costs{self: map[Function]int64{}, cum: map[Function]int64{}}
}

// top are the functions with the most time of their own.
func (c costs) top() []Function {
	all := make([]Function, 0, len(c.cum))
	for f, cum := range c.cum {
		self := c.self[f]
		f.SelfMS = float64(self) / 1e6
		if c.total > 0 {
			f.SelfShare, f.CumShare = float64(self)/float64(c.total), float64(cum)/float64(c.total)
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.SelfShare, a.SelfShare), cmp.Compare(b.CumShare, a.CumShare),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File))
	})
	return all[:min(len(all), kept)]
}
