package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/host/caches"
	"github.com/millicore/millicore/internal/host/heaps"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// heap is the finding about a process whose maximum heap size exceeds its memory
// limit: the kernel kills it before the collector reacts. As long as its group is far
// from the limit and nothing was killed this is an observation, because collectors do not
// use all of their maximum: Node.js and a JVM with 1 GiB survived under 128 and 192 MiB,
// and the lower maximum cost throughput.
func (s service) heap(host inspect.Host) []Finding {
	if s.Memory.State != inspect.Limited || s.Memory.Limit <= 0 {
		return nil
	}
	h := heaps.Of(s.Process)
	if h.Bytes <= s.Memory.Limit || h.By == "" {
		return nil
	}
	f := s.ofMemory(Warning, HeapAboveLimit)
	f.weight = float64(h.Bytes) / float64(s.Memory.Limit)
	f.Title = fmt.Sprintf("%s allows a heap of %s, above the memory limit of %s", h.By, size(h.Bytes), size(s.Memory.Limit))
	f.Evidence = append([]string{s.Info.String()}, s.inUse()...)
	if h.Source == runtimes.Read {
		f.Evidence = append(f.Evidence, h.String())
	}
	f.Confidence = High
	if s.farFromTheLimit(host) {
		f.Level, f.Mechanism = Info, "if the heap grows to the limit, the kernel kills the process before the collector reacts"
		return []Finding{f}
	}
	s.lessMemory(host, &f)
	return []Finding{f}
}

// farFromTheLimit reports whether the group uses less than this share of its memory limit,
// and no process of it was killed.
func (s service) farFromTheLimit(host inspect.Host) bool {
	const far = 0.7
	killed := s.Memory.OOMKills != nil && *s.Memory.OOMKills > 0 || len(s.kills(host)) > 0
	return !killed && s.Memory.Unreclaimable != nil && float64(*s.Memory.Unreclaimable) < far*float64(s.Memory.Limit)
}

// lowered is the change of the option to a heap of n bytes, and the words for it.
func (s service) lowered(h heaps.Limit, n int64) (string, Change) {
	mib := strconv.FormatInt(n>>20, 10)
	var value string
	words := mib + " MiB"
	switch h.By {
	case "-Xmx":
		value = "-Xmx" + mib + "m"
	case "-XX:MaxHeapSize":
		value = "-XX:MaxHeapSize=" + mib + "m"
	case "-XX:MaxRAMPercentage", "-XX:MinRAMPercentage":
		share := strconv.FormatInt(100*n/max(1, s.Memory.Limit), 10)
		value, words = h.By+"="+share, share
	case "--max-old-space-size":
		value = h.By + "=" + mib
	case "GOMEMLIMIT":
		value = mib + "MiB"
	default: // .NET's; its variables are hexadecimal
		if strings.HasSuffix(h.By, "Percent") {
			n = 100 * n / max(1, s.Memory.Limit)
		}
		if h.File != "" {
			return strconv.FormatInt(n, 10), Change{Setting: h.By, File: h.File, Value: int(n)}
		}
		value = fmt.Sprintf("0x%X", n)
		words = value
	}
	var c Change
	if h.Where == "" {
		c.Command = slices.Clone(s.Command)
		for i, arg := range c.Command {
			if arg == h.Option {
				c.Command[i] = value
			}
		}
	} else {
		c.Env = map[string]string{h.Where: strings.ReplaceAll(s.Info.Env[h.Where], h.Option, value)}
	}
	if s.Info.Runtime == runtimes.JVM && s.startLowered(n, &c) {
		words += " (and the initial size with it: a JVM whose initial size is above the maximum does not start)"
	}
	return words, c
}

// startLowered adds to a change of the JVM's maximum heap size that of the initial one, in
// each place that sets one above n bytes.
func (s service) startLowered(n int64, c *Change) (lowered bool) {
	within := func(option string) string {
		for _, name := range []string{"-Xms", "-XX:InitialHeapSize=", "-XX:MinHeapSize="} {
			value, ok := strings.CutPrefix(option, name)
			if size, isSize := caches.JavaSize(value); ok && isSize && size > n {
				return name + strconv.FormatInt(n>>20, 10) + "m"
			}
		}
		return option
	}
	for i, option := range runtimes.JavaOptions(s.Command) {
		value := within(option)
		if value == option {
			continue
		}
		if c.Command == nil {
			c.Command = slices.Clone(s.Command)
		}
		c.Command[i+1], lowered = value, true
	}
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		for _, option := range strings.Fields(s.Info.Env[name]) {
			value := within(option)
			if value == option {
				continue
			}
			if c.Env == nil {
				c.Env = map[string]string{}
			}
			c.Env[name], lowered = strings.ReplaceAll(cmp.Or(c.Env[name], s.Info.Env[name]), option, value), true
		}
	}
	return lowered
}
