// Package top shows the services of a host that run under a CPU limit, live: how
// much of it each uses, how often it is throttled and for how long. On a terminal
// it is a table to sort, filter and stop, and opens what package doctor finds;
// elsewhere it writes plain lines.
//
// What is kept of each service, its order and its figures are pure; package
// inspect does the looking.
package top

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/inspect"
)

const (
	// kept is how many looks are kept of a service: those of the sparkline.
	kept = 30
	// recent is over how many looks the figures are.
	recent = 10
)

// Service is a group that sets a CPU limit, with what was counted lately.
type Service struct {
	Dir   string
	Name  string
	Main  inspect.Process // of its processes the one that stands for them
	All   []inspect.Process
	Total inspect.Counts   // since the group was made
	looks []inspect.Counts // what each look added, the newest last
	last  inspect.Seen
	sum   inspect.Counts // of the last looks
	width int            // of the name, in columns
}

// Recent is what was counted over the last looks; nothing after the first one.
func (s *Service) Recent() inspect.Counts { return s.sum }

// summed is Recent, from the looks.
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

// OfLimit is the share of the limit that was used lately; ok is false where that
// was not measured.
func (s *Service) OfLimit() (share float64, ok bool) {
	c := s.Recent()
	if c.Used == nil || s.Main.CPU.CPUs <= 0 {
		return 0, false
	}
	return c.Used.Seconds() / c.Length.Seconds() / s.Main.CPU.CPUs, true
}

// add takes in a look at the service.
func (s *Service) add(seen inspect.Seen) {
	if !s.last.At.IsZero() {
		if d, ok := seen.Counts.Less(s.last.Counts, seen.At.Sub(s.last.At)); ok {
			s.looks = append(s.looks, d)
		} else {
			s.looks = nil // the group was made anew
		}
		if n := len(s.looks) - kept; n > 0 {
			s.looks = slices.Delete(s.looks, 0, n)
		}
	}
	s.last, s.Total, s.All = seen, seen.Counts, seen.Processes
	s.Main = inspect.Foremost(seen.Processes)
	s.sum = s.summed()
	if name := s.Main.Label(); name != s.Name {
		s.Name, s.width = name, display.Width(display.Plain(name))
	}
}

// Services are those that are there.
type Services map[string]*Service

// Add takes in a look at all of them. Those that are not in it have ended.
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

// Order says by what services are sorted.
type Order int

// The orders. In all but ByName the greatest comes first.
const (
	ByThrottling Order = iota // share of throttled periods
	ByStop                    // time stopped per throttled period
	ByCPU                     // share of the limit used
	ByName
	orders
)

var orderNames = [orders]string{"throttling", "stop", "cpu", "name"}

func (o Order) String() string { return orderNames[o] }

// ParseOrder reads an order's name.
func ParseOrder(name string) (Order, bool) {
	at := slices.Index(orderNames[:], name)
	return Order(at), at >= 0
}

// Sorted are the services that match a filter, in an order. The filter is looked
// for in names, runtimes, commands and groups, whatever the case; "" is all.
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
