// Package cadvisor parses the container metrics of a kubelet, /metrics/cadvisor, in
// the Prometheus text format. A full node has tens of thousands of lines, of which
// a run needs few; the others are skipped early. The package is pure: it sends no
// requests.
//
//	container_cpu_cfs_periods_total{container="service",id="/kubepods/…/0b1f…",image="…",name="0b1f…",namespace="default",pod="x"} 123 1700000000000
//
// The last figure is the time at which the kubelet read the container, in
// milliseconds. Figures of container_spec_ have none.
// https://github.com/google/cadvisor/blob/master/metrics/prometheus.go
package cadvisor

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// Sample holds the running totals of one container since its start.
type Sample struct {
	Pod string
	ID  string // the container's control group
	signals.Counters
}

// figure is a metric that a sample is made of.
type figure int

const (
	cpuUsed figure = iota
	cfsPeriods
	cfsThrottledPeriods
	cfsThrottled
	specQuota
	specPeriod
	memoryUsed
	memoryPeak
	memoryLimit
	figures
)

// figureNames are cAdvisor's names without their common prefix.
var figureNames = map[string]figure{
	"cpu_usage_seconds_total":         cpuUsed,
	"cpu_cfs_periods_total":           cfsPeriods,
	"cpu_cfs_throttled_periods_total": cfsThrottledPeriods,
	"cpu_cfs_throttled_seconds_total": cfsThrottled,
	"spec_cpu_quota":                  specQuota,
	"spec_cpu_period":                 specPeriod,
	"memory_working_set_bytes":        memoryUsed,
	"memory_max_usage_bytes":          memoryPeak,
	"spec_memory_limit_bytes":         memoryLimit,
}

const figurePrefix = "container_"

// seen is what has been read of one container.
type seen struct {
	value [figures]float64
	has   [figures]bool
	stamp int64 // milliseconds; 0: none yet
}

// Read returns the samples of the named container in the wanted pods of the
// namespace.
func Read(from io.Reader, namespace, container string, wanted func(pod string) bool) ([]Sample, error) {
	type key struct{ pod, id string }
	all := map[key]*seen{}
	var order []key
	err := eachSeries(from, func(f figure, labels []byte, value, stamp []byte) error {
		if !bytes.Contains(labels, []byte(`container="`+container+`"`)) { // most lines are of other containers
			return nil
		}
		var of, in, cpu string
		var k key
		err := eachLabel(labels, func(name, value []byte) {
			switch string(name) {
			case "container":
				of = string(value)
			case "namespace":
				in = string(value)
			case "pod":
				k.pod = string(value)
			case "id":
				k.id = string(value)
			case "cpu":
				cpu = string(value)
			}
		})
		if err != nil || of != container || in != namespace || cpu != "" && cpu != "total" || !wanted(k.pod) {
			return err
		}
		one := all[k]
		if one == nil {
			one = &seen{}
			all[k] = one
			order = append(order, k)
		}
		return one.put(f, value, stamp)
	})
	if err != nil {
		return nil, err
	}
	var samples []Sample
	for _, k := range order {
		if one := all[k]; one.stamp != 0 {
			samples = append(samples, Sample{Pod: k.pod, ID: k.id, Counters: one.counters()})
		}
	}
	return samples, nil
}

// Stamps reads when each control group was read, in milliseconds, by its id.
func Stamps(from io.Reader) (map[string]int64, error) {
	all := map[string]int64{}
	err := eachSeries(from, func(f figure, labels []byte, _, stamp []byte) error {
		if f != memoryUsed || len(stamp) == 0 {
			return nil
		}
		at, err := strconv.ParseInt(string(stamp), 10, 64)
		if err != nil {
			return fmt.Errorf("a time of %q", stamp)
		}
		return eachLabel(labels, func(name, value []byte) {
			if string(name) == "id" {
				all[string(value)] = at
			}
		})
	})
	return all, err
}

// eachSeries calls each for every line with a known figure: the text between its
// braces, its value, and its time, which may be empty.
func eachSeries(from io.Reader, each func(f figure, labels, value, stamp []byte) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), 1<<20)
	for n := 1; lines.Scan(); n++ {
		rest, ok := bytes.CutPrefix(lines.Bytes(), []byte(figurePrefix))
		if !ok {
			continue
		}
		open := bytes.IndexByte(rest, '{')
		if open < 0 {
			continue
		}
		f, ok := figureNames[string(rest[:open])]
		if !ok {
			continue
		}
		end := bytes.LastIndexByte(rest, '}')
		if end < open {
			return fmt.Errorf("line %d of the kubelet's metrics: no closing brace after the labels", n)
		}
		fields := bytes.Fields(rest[end+1:])
		if len(fields) < 1 || len(fields) > 2 {
			return fmt.Errorf("line %d of the kubelet's metrics: %d figures, want a value and a time", n, len(fields))
		}
		var stamp []byte
		if len(fields) == 2 {
			stamp = fields[1]
		}
		if err := each(f, rest[open+1:end], fields[0], stamp); err != nil {
			return fmt.Errorf("line %d of the kubelet's metrics: %w", n, err)
		}
	}
	return lines.Err()
}

// eachLabel calls each for the labels of a line: name="value",name="value". It does
// not decode escapes: no label that is needed has one.
func eachLabel(labels []byte, each func(name, value []byte)) error {
	for len(labels) > 0 {
		name, rest, ok := bytes.Cut(labels, []byte(`="`))
		if !ok {
			return errLabels
		}
		end := 0
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(rest) {
			return errLabels
		}
		each(name, rest[:end])
		labels = bytes.TrimPrefix(rest[end+1:], []byte(","))
	}
	return nil
}

var errLabels = errors.New("cannot parse its labels")

func (s *seen) put(f figure, value, stamp []byte) error {
	v, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return fmt.Errorf("a value of %q", value)
	}
	s.value[f], s.has[f] = v, true
	if len(stamp) == 0 {
		return nil
	}
	at, err := strconv.ParseInt(string(stamp), 10, 64)
	if err != nil {
		return fmt.Errorf("a time of %q", stamp)
	}
	s.stamp = max(s.stamp, at)
	return nil
}

// counters converts the figures. A limit of 0 or less is none. The kernel counts no
// periods of a group without a CPU limit, and cAdvisor omits them then.
func (s *seen) counters() signals.Counters {
	c := signals.Counters{
		At:               time.UnixMilli(s.stamp),
		CPU:              s.float(cpuUsed),
		Periods:          s.whole(cfsPeriods),
		ThrottledPeriods: s.whole(cfsThrottledPeriods),
		Throttled:        s.float(cfsThrottled),
		Memory:           s.whole(memoryUsed),
		MemoryPeak:       s.whole(memoryPeak),
	}
	if quota, period := s.value[specQuota], s.value[specPeriod]; quota > 0 && period > 0 {
		c.CPULimit = of(quota / period)
	}
	if limit := s.whole(memoryLimit); limit != nil && *limit > 0 {
		c.MemoryLimit = limit
	}
	return c
}

func (s *seen) float(f figure) *float64 {
	if !s.has[f] {
		return nil
	}
	return &s.value[f]
}

func (s *seen) whole(f figure) *int64 {
	if !s.has[f] {
		return nil
	}
	return of(int64(s.value[f]))
}

func of[T any](v T) *T { return &v }
