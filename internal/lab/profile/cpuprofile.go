package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
)

// cpuProfile is V8's format (Profiler.Profile of the DevTools protocol). Times
// are microseconds.
type cpuProfile struct {
	Nodes []struct {
		ID        int64 `json:"id"`
		CallFrame struct {
			FunctionName string `json:"functionName"`
			URL          string `json:"url"`
			LineNumber   int64  `json:"lineNumber"` // from 0; -1: none
		} `json:"callFrame"`
		Children []int64 `json:"children"`
	} `json:"nodes"`
	StartTime  int64   `json:"startTime"`
	EndTime    int64   `json:"endTime"`
	Samples    []int64 `json:"samples"`
	TimeDeltas []int64 `json:"timeDeltas"`
}

// part is the profile of one Node process.
type part struct {
	costs
	seconds float64
}

func readCPUProfile(from io.Reader) (part, error) {
	data, err := readAll(from)
	if err != nil {
		return part{}, err
	}
	var p cpuProfile
	if err := json.Unmarshal(data, &p); err != nil {
		return part{}, fmt.Errorf("it is not a CPU profile of V8, or is truncated: %w", err)
	}
	return p.part()
}

// maxSpan is the longest time that a profile may claim, in microseconds: a day.
const maxSpan = 24 * 60 * 60 * 1e6

func (p cpuProfile) part() (part, error) {
	if len(p.Nodes) == 0 {
		return part{}, errors.New("it has no functions")
	}
	if len(p.Samples) != len(p.TimeDeltas) {
		return part{}, fmt.Errorf("it has %d samples but %d times", len(p.Samples), len(p.TimeDeltas))
	}
	span := p.EndTime - p.StartTime
	if p.StartTime < 0 || p.EndTime < p.StartTime || span > maxSpan {
		return part{}, fmt.Errorf("it claims to span from %d to %d µs", p.StartTime, p.EndTime)
	}
	parent, function := map[int64]int64{}, make(map[int64]Function, len(p.Nodes))
	for _, n := range p.Nodes {
		function[n.ID] = Function{Name: n.CallFrame.FunctionName, File: place(n.CallFrame.URL, n.CallFrame.LineNumber)}
		for _, child := range n.Children {
			parent[child] = n.ID
		}
	}
	made := part{costs: newCosts(), seconds: float64(span) / 1e6}
	for id, us := range p.times() {
		f, ok := function[id]
		if !ok || f.Name == "(idle)" || f.Name == "(root)" {
			continue
		}
		if f.Name == "" {
			f.Name = "(anonymous)"
		}
		ns := us * 1000
		made.total += ns
		made.self[f] += ns
		seen := map[Function]bool{}
		// The bound is for a malformed file with cycles.
		for range len(p.Nodes) {
			if f.Name == "" {
				f.Name = "(anonymous)"
			}
			if f.Name != "(root)" && !seen[f] {
				seen[f] = true
				made.cum[f] += ns
			}
			if id, ok = parent[id]; !ok {
				break
			}
			f = function[id]
		}
	}
	return made, nil
}

// times sums the time of each node: a sample lasts until the next one, the last until
// the end. Deltas can be negative if samples are out of order. The sum is bounded by the
// length of the profile.
func (p cpuProfile) times() map[int64]int64 {
	times := map[int64]int64{}
	left := p.EndTime - p.StartTime
	if len(p.TimeDeltas) > 0 {
		left -= min(max(p.TimeDeltas[0], 0), left) // before the first sample
	}
	for i, id := range p.Samples {
		lasts := left
		if i+1 < len(p.TimeDeltas) {
			lasts = min(max(p.TimeDeltas[i+1], 0), left)
		}
		times[id] += lasts
		left -= lasts
	}
	return times
}

// place shortens a script's address to its last two names, with the line.
func place(address string, line int64) string {
	if address == "" {
		return ""
	}
	if u, err := url.Parse(address); err == nil && u.Scheme == "file" {
		address = u.Path
	}
	if !strings.HasPrefix(address, "node:") {
		dir, base := path.Split(address)
		address = strings.TrimPrefix(path.Join(path.Base(dir), base), "/")
	}
	if line < 0 {
		return address
	}
	return fmt.Sprintf("%s:%d", address, line+1)
}

// mergeNode merges the profiles of several processes, because those of a cluster run the
// same code. It leaves out processes that did little compared with the busiest, such as
// npm.
func mergeNode(p *Profile, parts []part) {
	busiest := int64(0)
	for _, part := range parts {
		busiest = max(busiest, part.total)
	}
	sum := newCosts()
	merged := 0
	for _, part := range parts {
		if part.total == 0 || part.total < busiest/10 {
			continue
		}
		merged++
		p.Seconds = max(p.Seconds, part.seconds)
		sum.total += part.total
		for f, ns := range part.self {
			sum.self[f] += ns
		}
		for f, ns := range part.cum {
			sum.cum[f] += ns
		}
	}
	if merged == 0 {
		return
	}
	p.BusySeconds = float64(sum.total) / 1e9
	p.Top = sum.top()
	p.Notes = append(p.Notes, "the profile spans the process's whole life, its start too, and its main thread only")
	if merged > 1 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d processes are added up", merged))
	}
}
