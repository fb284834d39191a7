// Package profile collects profiles of a service at its breaking point, in a separate
// trial so that profiling does not affect the measurement, and reads them back: where
// CPU time is spent.
//
// CollectGo fetches a CPU profile from a Go service that serves /debug/pprof/. A Node.js service is profiled by a script that PrepareNode preloads,
// and that writes the profile when the process receives a signal to end. The package
// starts and ends no process, and needs no other tool. Its files are the usual ones,
// for `go tool pprof` and Chrome's DevTools.
package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// Names of the files in a profile's folder.
const (
	CPUFile = "cpu.pprof"
	// NodeFiles is the pattern of the files that Node's processes write, one each.
	NodeFiles = "*.cpuprofile"
)

// The content of a profile, as a summary has it.
type (
	Profile  = summary.Profile
	Function = summary.ProfileFunction
)

// kept is the maximum number of functions in Top.
const kept = 25

// maxFile bounds a profile's file in bytes, as it is fetched and unpacked.
const maxFile = 256 << 20

// ErrNone means that the folder has no profile.
var ErrNone = errors.New("no profile was written")

// mostNodes bounds the number of Node's processes whose profiles are read.
const mostNodes = 256

// Read reads the profiles in a folder of a record's files. A truncated or malformed file is
// a note if another file is readable; ErrNone means that there is no file.
func Read(files fs.FS, dir string) (*Profile, error) {
	p := &Profile{Top: []Function{}, Files: []string{}, Notes: []string{}}
	var errs []error
	add := func(runtime, name string, read func(io.Reader) error) {
		err := guarded(files, path.Join(dir, name), read)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("read the profile %s: %w", name, err))
			return
		}
		p.Runtime = cmp.Or(p.Runtime, runtime)
		p.Files = append(p.Files, name)
	}
	add("go", CPUFile, func(from io.Reader) error { return readPprof(p, from) })

	names, _ := fs.Glob(files, path.Join(dir, NodeFiles))
	slices.Sort(names)
	if more := len(names) - mostNodes; more > 0 {
		names = names[:mostNodes]
		p.Notes = append(p.Notes, fmt.Sprintf("%d more profiles of Node.js processes were not read", more))
	}
	var parts []part
	for _, name := range names {
		add("node", path.Base(name), func(from io.Reader) error {
			part, err := readCPUProfile(from)
			parts = append(parts, part)
			return err
		})
	}
	if len(p.Top) == 0 {
		mergeNode(p, parts)
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

// guarded reads one file and recovers from panics of its decoder: the content comes from
// the service and may be malicious, but must not crash the report.
func guarded(files fs.FS, name string, read func(io.Reader) error) (err error) {
	file, err := files.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it is malformed: %v", r)
		}
	}()
	return read(file)
}

// readAll reads a file up to the bound; over bounds it is an error.
func readAll(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err == nil && len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %d MB", maxFile>>20)
	}
	return data, err
}

// costs sums CPU time by function, in nanoseconds.
type costs struct {
	self, cum map[Function]int64 // keys have a name and a file only
	total     int64
}

func newCosts() costs {
	return costs{self: map[Function]int64{}, cum: map[Function]int64{}}
}

// top returns the functions with the most time of their own.
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
