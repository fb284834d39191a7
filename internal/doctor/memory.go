package doctor

import (
	"fmt"

	"github.com/millicore/millicore/internal/inspect"
	"github.com/millicore/millicore/internal/runtimes"
)

const (
	// near and full are the shares of a memory limit, without what can be dropped,
	// from which a little more gets the service killed.
	near, full = 0.9, 0.97
)

// shortOfMemory are the findings about groups that are near their memory limit,
// or lost processes to it: each about the process that counts in its group.
func shortOfMemory(host inspect.Host) []Finding {
	var all []Finding
	told := map[string]bool{} // groups that set a limit: what uses it is theirs
	for _, s := range byGroup(host, func(p inspect.Process) (string, bool) { return p.Memory.Group, p.Memory.State == inspect.Limited }) {
		all = append(all, s.killed()...)
		if name := s.Memory.SetBy; name == "" || !told[name] {
			told[name] = true
			all = append(all, s.nearItsMemory()...)
		}
	}
	return all
}

// killed is the finding about a group whose processes were killed.
func (s service) killed() []Finding {
	if s.Memory.OOMKills == nil || *s.Memory.OOMKills == 0 {
		return nil
	}
	f := s.finding(Critical)
	f.weight = 1
	f.Title = fmt.Sprintf("the kernel killed %s of its group for want of memory", count(*s.Memory.OOMKills, "process", "processes"))
	f.Evidence, f.Fix = s.inUse(), s.lessMemory()
	return []Finding{f}
}

// nearItsMemory is the finding about a group that is near its limit.
func (s service) nearItsMemory() []Finding {
	if s.Memory.WorkingSet == nil || s.Memory.Limit <= 0 {
		return nil
	}
	share := float64(*s.Memory.WorkingSet) / float64(s.Memory.Limit)
	if share < near {
		return nil
	}
	f := s.finding(Warning)
	if share >= full {
		f.Level = Critical
	}
	f.weight = share
	f.Title = fmt.Sprintf("uses %s of its memory limit of %s", percent(share), size(s.Memory.Limit))
	f.Evidence, f.Fix = s.inUse(), s.lessMemory()
	return []Finding{f}
}

// inUse says what is used of the limit, and who sets it.
func (s service) inUse() []string {
	m := s.Memory
	by := "set where it cannot be seen"
	switch {
	case m.SetBy == m.Group:
		by = "set by its own group " + m.Group
	case m.SetBy != "":
		by = fmt.Sprintf("set by %s, above its own group %s", m.SetBy, m.Group)
	}
	all := []string{fmt.Sprintf("memory limit of %s %s", size(m.Limit), by)}
	if m.WorkingSet != nil {
		all = append(all, size(*m.WorkingSet)+" in use that cannot simply be dropped")
	}
	return all
}

// lessMemory is what to do about it.
func (s service) lessMemory() []string {
	most := fmt.Sprintf("%dMiB", int64(float64(s.Memory.Limit)*near)>>20)
	switch {
	case s.Info.Runtime == runtimes.Go && s.Info.Env["GOMEMLIMIT"] == "" && (s.Info.Go == nil || s.Info.Go.Automemlimit == ""):
		return []string{"try GOMEMLIMIT=" + most + ", so that the collector keeps below the limit; or a higher memory limit"}
	case s.Info.Runtime == runtimes.Node:
		return []string{fmt.Sprintf("try NODE_OPTIONS=--max-old-space-size=%d, so that the collector keeps below the limit; or a higher memory limit",
			int64(float64(s.Memory.Limit)*0.75)>>20)}
	case s.Info.Runtime == runtimes.JVM:
		return []string{"try JAVA_TOOL_OPTIONS=-XX:MaxRAMPercentage=75, so that the heap keeps below the limit; or a higher memory limit"}
	}
	return []string{"a higher memory limit, or less of what it keeps"}
}

func size(bytes int64) string {
	if bytes < 10<<20 {
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%s MiB", grouped(bytes>>20))
}

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}
