package profile

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"path"

	"github.com/google/pprof/profile"
)

// readPprof reads a CPU profile in pprof's format.
func readPprof(p *Profile, from io.Reader) error {
	unpacked, err := gzip.NewReader(from)
	if err != nil {
		return fmt.Errorf("it is not a pprof profile: %w", err)
	}
	data, err := readAll(unpacked)
	if err != nil {
		return fmt.Errorf("decompress it: %w; it is truncated if the service ended during the profile", err)
	}
	parsed, err := profile.ParseUncompressed(data)
	if err != nil {
		return fmt.Errorf("decode it: %w", err)
	}
	return fromPprof(p, parsed)
}

func fromPprof(p *Profile, parsed *profile.Profile) error {
	if err := parsed.CheckValid(); err != nil {
		return err
	}
	index, err := cpuIndex(parsed)
	if err != nil {
		return err
	}
	c := newCosts()
	for _, sample := range parsed.Sample {
		value := sample.Value[index]
		if value <= 0 {
			continue
		}
		if value > math.MaxInt64-c.total {
			return errors.New("the sum of its samples overflows")
		}
		c.total += value
		seen := map[Function]bool{}
		leaf := true
		// Locations are sorted from the leaf to the root, and so are the lines of one:
		// the first is the innermost inlined function.
		for _, location := range sample.Location {
			for _, line := range location.Line {
				if line.Function == nil {
					continue
				}
				f := Function{Name: line.Function.Name, File: source(line.Function)}
				if leaf {
					c.self[f] += value
					leaf = false
				}
				if !seen[f] {
					seen[f] = true
					c.cum[f] += value
				}
			}
		}
	}
	p.Seconds = float64(parsed.DurationNanos) / 1e9
	p.BusySeconds = float64(c.total) / 1e9
	p.Top = c.top()
	if c.total == 0 {
		p.Notes = append(p.Notes, "the CPU profile is empty: the service used no CPU while it was taken")
	}
	return nil
}

// source is the file and the line of a function, with only the last folder of the path.
func source(f *profile.Function) string {
	if f.Filename == "" {
		return ""
	}
	dir, base := path.Split(f.Filename)
	name := path.Join(path.Base(dir), base)
	if f.StartLine > 0 {
		name = fmt.Sprintf("%s:%d", name, f.StartLine)
	}
	return name
}

// cpuIndex is the sample type that counts CPU time in nanoseconds.
func cpuIndex(parsed *profile.Profile) (int, error) {
	for i, t := range parsed.SampleType {
		if t.Type == "cpu" && t.Unit == "nanoseconds" {
			return i, nil
		}
	}
	return 0, errors.New("it is not a CPU profile: no sample type is cpu in nanoseconds")
}
