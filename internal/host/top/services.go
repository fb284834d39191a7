// Package top shows live figures of the services of a host that run under a CPU
// limit: how much of the limit each uses, how often it is throttled and for how long.
// On a terminal it shows a table that can be sorted, filtered and paused, and the
// findings of package doctor; elsewhere it writes plain lines.
//
// It reads nothing itself: package inspect does. The history, the order and the
// figures of the services are pure.
package top

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
)

const (
	// kept is how many looks at a service are kept, for the sparkline.
	kept = 30
	// recent is how many looks the figures cover.
	recent = 10
)

// Service is a group that sets a CPU limit, with its recent counters.
type Service struct {
	Dir   string
	Name  string
	Main  inspect.Process // the process that represents the service
	All   []inspect.Process
	Total inspect.Counts   // since the group was created
	looks []inspect.Counts // the increase at each look, the newest last
	last  inspect.Seen
	sum   inspect.Counts // of the recent looks
	width int            // of the name, in columns
	// memory is that of its group, and waits how many CPUs its threads waited for at the
	// recent looks, as far as they were measured.
	memory *inspect.Memory
	waits  []float64
}

// Waited is how many CPUs the service's threads waited for on average over the recent looks;
// ok is false if that was not measured.
func (s *Service) Waited() (cpus float64, ok bool) {
	for _, w := range s.waits {
		cpus += w / float64(len(s.waits))
	}
	return cpus, len(s.waits) > 0
}

// OfMemory is the share of the memory limit in use, without page cache;
// ok is false if there is no limit, or if that was not measured.
func (s *Service) OfMemory() (share float64, ok bool) {
	if s.memory == nil || s.memory.Unreclaimable == nil || s.memory.Limit <= 0 {
		return 0, false
	}
	return float64(*s.memory.Unreclaimable) / float64(s.memory.Limit), true
}

// Recent are the counts of the recent looks; zero after the first look.
func (s *Service) Recent() inspect.Counts { return s.sum }

// summed computes Recent.
func (s *Service) summed() inspect.Counts {
	var sum inspect.Counts
	var used time.Duration
	measured := true
	for _, c := range s.looks[max(0, len(s.looks)-recent):] {
		sum.Length += c.Length
		sum.Periods += c.Periods
		sum.Throttled += c.Throttled
		sum.Stopped += c.Stopped
		if c.Used == nil {
			measured = false
			continue
		}
		used += *c.Used
	}
	if measured && sum.Length > 0 {
		sum.Used = &used
	}
	return sum
}

// OfLimit is the recently used share of the limit; ok is false if it was not measured.
func (s *Service) OfLimit() (share float64, ok bool) {
	c := s.Recent()
	if c.Used == nil || s.Main.CPU.CPUs <= 0 {
		return 0, false
	}
	return c.Used.Seconds() / c.Length.Seconds() / s.Main.CPU.CPUs, true
}

// add adds a look at the service.
func (s *Service) add(seen inspect.Seen) {
	if !s.last.At.IsZero() {
		if d, ok := seen.Counts.Less(s.last.Counts, seen.At.Sub(s.last.At)); ok {
			s.looks = append(s.looks, d)
		} else {
			s.looks = nil // the group was created again
		}
		if n := len(s.looks) - kept; n > 0 {
			s.looks = slices.Delete(s.looks, 0, n)
		}
	}
	s.last, s.Total, s.All = seen, seen.Counts, seen.Processes
	s.Main = inspect.Foremost(seen.Processes)
	s.sum, s.memory = s.summed(), seen.Memory
	if seen.Waited == nil {
		s.waits = nil
	} else {
		s.waits = append(s.waits[max(0, len(s.waits)-recent+1):], *seen.Waited)
	}
	if name := s.Main.Label(); name != s.Name {
		s.Name, s.width = name, display.Width(display.Plain(name))
	}
}

// Services are the present services by directory.
type Services map[string]*Service

// Add adds a look at all services, and removes those that have ended.
func (all Services) Add(seen []inspect.Seen) {
	there := make(map[string]bool, len(seen))
	for _, one := range seen {
		there[one.Dir] = true
		s, ok := all[one.Dir]
		if !ok {
			s = &Service{Dir: one.Dir}
			all[one.Dir] = s
		}
		s.add(one)
	}
	for dir := range all {
		if !there[dir] {
			delete(all, dir)
		}
	}
}

// Order is the figure by which services are sorted.
type Order int

// The orders. All but ByName are descending.
const (
	ByThrottling Order = iota // share of throttled periods
	ByStop                    // throttled time per throttled period
	ByCPU                     // share of the limit used
	ByName
	orders
)

var orderNames = [orders]string{"throttling", "stop", "cpu", "name"}

func (o Order) String() string { return orderNames[o] }

// ParseOrder parses an order's name.
func ParseOrder(name string) (Order, bool) {
	if name == "throttled-time" {
		name = orderNames[ByStop]
	}
	at := slices.Index(orderNames[:], name)
	return Order(at), at >= 0
}

// Sorted returns the services that match a filter, in an order. The filter is searched
// in names, runtimes, commands and groups, ignoring case; "" matches all.
func (all Services) Sorted(order Order, filter string) []*Service {
	type ranked struct {
		*Service
		key, second float64
	}
	filter = strings.ToLower(filter)
	var list []ranked
	for _, s := range all {
		if !s.matches(filter) {
			continue
		}
		c := s.Recent()
		used, _ := s.OfLimit()
		r := ranked{Service: s, second: used}
		switch order {
		case ByThrottling:
			r.key = c.Share()
		case ByStop:
			r.key = float64(c.PerThrottled())
		case ByCPU:
			r.key, r.second = used, c.Share()
		}
		if order == ByName {
			r.second = 0
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(b.second, a.second),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Dir, b.Dir))
	})
	sorted := make([]*Service, len(list))
	for i, r := range list {
		sorted[i] = r.Service
	}
	return sorted
}

func (s *Service) matches(filter string) bool {
	if filter == "" {
		return true
	}
	for _, text := range []string{s.Name, s.Main.Info.String(), s.Main.Shown(), s.Dir, s.Main.ContainerID} {
		if strings.Contains(strings.ToLower(text), filter) {
			return true
		}
	}
	return false
}
