package doctor

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/host/heaps"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// cache is the finding about a server that may fill more memory than its limit: a buffer
// pool, the storage of a cache, the processes of a pool. It fills as the server works, and
// the kernel kills the server before the bound has an effect. One finding for each process
// that has the setting: its workers have the same command.
func (s service) cache(host inspect.Host) []Finding {
	c := s.Cache
	if c == nil || s.Memory.State != inspect.Limited || s.Memory.Limit <= 0 || sameAbove(host, s.Process) {
		return nil
	}
	limit := float64(s.Memory.Limit)
	bytes, each := c.Bytes, int64(0)
	if c.Children > 0 {
		if each = s.child(host); each == 0 {
			return nil
		}
		bytes = each * int64(c.Children)
	}
	if float64(bytes) < near*limit {
		return nil
	}
	f := s.ofMemory(Warning, CacheAboveLimit)
	f.weight = float64(bytes) / limit
	f.Mechanism = "as it fills, the group reaches the memory limit, and the kernel kills one of its processes"
	f.Expect = Effect{Saturated: "the service survives", Ordinary: "the service survives"}
	higher := Change{Memory: roundMiB(int64(float64(bytes) / c.Fits))}
	raise := "; or raise the memory limit to " + size(higher.Memory)
	if each > 0 {
		n := max(1, int(c.Fits*limit)/int(each))
		f.Title = fmt.Sprintf("%s = %d allows %s of %s each, %s together: the memory limit is %s",
			c.Name, c.Children, count(int64(c.Children), "process", "processes"), size(each), size(bytes), size(s.Memory.Limit))
		f.Evidence = append([]string{fmt.Sprintf("the processes that run have %s of their own memory on average", size(each))}, s.inUse()...)
		f.Fix = []string{fmt.Sprintf("set %s to %d in %s, which leaves a quarter of the limit for the rest%s", c.Name, n, c.Place, raise)}
		f.Changes = []Change{{Setting: c.Name, File: c.Place, Value: n}, higher}
		return []Finding{f}
	}
	f.Title = fmt.Sprintf("%s of %s does not fit into the memory limit of %s", c.Name, size(bytes), size(s.Memory.Limit))
	f.Evidence = append([]string{s.Info.String()}, s.inUse()...)
	fits := int64(c.Fits*limit) >> 20 << 20
	lower := Change{Setting: c.Name, File: c.Place, Text: c.Value(fits)}
	if argument := c.Argument(fits); argument != "" {
		lower.Command = slices.Clone(s.Command)
		lower.Command[c.At] = argument
	}
	f.Fix = []string{fmt.Sprintf("set %s to %s in %s, %.0f%% of the limit, because it does not bound all memory of the server%s",
		c.Name, c.Value(fits), c.Place, 100*c.Fits, raise)}
	f.Changes = []Change{lower, higher}
	return []Finding{f}
}

// sameAbove reports whether the parent of a process is the same program under the same
// limit: it has the setting, and this process is one of its workers.
func sameAbove(host inspect.Host, p inspect.Process) bool {
	return slices.ContainsFunc(host.Processes, func(o inspect.Process) bool { return o.PID == p.Parent && o.Exe == p.Exe && o.Cache != nil })
}

// child is the memory that a process started by this one has of its own, in bytes, on
// average; 0: there is none.
func (s service) child(host inspect.Host) int64 {
	var sum, n int64
	for _, p := range host.Processes {
		if p.Parent == s.PID && p.Anon > 0 {
			sum, n = sum+p.Anon, n+1
		}
	}
	return sum / max(1, n)
}

// roundMiB rounds bytes up to whole MiB.
func roundMiB(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 << 20 }

// atIt is the share of GOMEMLIMIT in use from which the collector is driven by it: it keeps
// some room for what it cannot return at once. Programs at their GOMEMLIMIT of 120 MiB had 108
// to 115 MiB in use.
const atIt = 0.85

// collecting is the finding about a Go program whose memory has reached a GOMEMLIMIT far
// below the memory limit while it uses all the CPU time that it can get. Near GOMEMLIMIT the
// collector runs as often as it must to stay below: with 100 MiB of live data a limit of 120
// MiB cost a third of the rate of one of 230 MiB. With GOGC=off a program with little live
// data looks the same from outside; there the change costs nothing, and gains little.
func (s service) collecting() []Finding {
	h := heaps.Of(s.Process)
	limit := int64(near * float64(s.Memory.Limit))
	if s.Info.Runtime != runtimes.Go || h.By != "GOMEMLIMIT" || s.Memory.State != inspect.Limited || s.Memory.Unreclaimable == nil ||
		float64(s.Anon) < atIt*float64(h.Bytes) || float64(h.Bytes) > roomy*float64(limit) {
		return nil
	}
	if float64(s.Anon) < near*float64(*s.Memory.Unreclaimable) {
		return nil // others share the memory limit
	}
	if used, ok := s.used(); !(ok && used >= high) && s.share() < busy {
		return nil
	}
	value := fmt.Sprintf("%dMiB", limit>>20)
	f := s.ofMemory(Warning, AtGOMEMLIMIT)
	f.weight = float64(limit) / float64(h.Bytes)
	f.Title = fmt.Sprintf("memory of %s is at GOMEMLIMIT (%s), and all CPU time is used; the memory limit is %s",
		size(s.Anon), size(h.Bytes), size(s.Memory.Limit))
	f.Evidence = append([]string{s.Info.String(), h.String()}, s.inUse()...)
	f.Evidence = append(f.Evidence, "the CPU time of the collector is not visible from outside: GODEBUG=gctrace=1 shows it")
	f.Mechanism = "near GOMEMLIMIT the Go collector runs more often, which costs CPU time where most of the memory is live data"
	f.Expect = Effect{Saturated: "more throughput if most of this memory is live data, else no change", Ordinary: "less CPU time for the same load, or no change"}
	f.Confidence = Low
	text := "try GOMEMLIMIT=" + value + ", which the memory limit allows"
	if s.heapInCode() {
		text += ", unless its code sets another (it contains debug.SetMemoryLimit)"
	}
	s.fix(&f, text, Change{Env: map[string]string{"GOMEMLIMIT": value}})
	return []Finding{f}
}
