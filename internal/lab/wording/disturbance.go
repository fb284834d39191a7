package wording

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/finding"
)

// Others words who took CPU, and what was stopped: "other processes used 0.50 CPUs and the
// hypervisor took 0.30 CPUs"; "": nobody, and nothing.
func Others(who []finding.Finding) string { return strings.Join(each(who), " and ") }

// disturbanceWords words who disturbed a trial, and what made the generator the limit.
var disturbanceWords = map[finding.Kind]func(f finding.Finding) string{
	finding.Stopped: func(f finding.Finding) string {
		return fmt.Sprintf("a signal (SIGSTOP) or a frozen control group stopped %s, in intervals of %.3g s together", f.Text, f.Seconds)
	},
	finding.NeighboursUsed: func(f finding.Finding) string {
		return fmt.Sprintf("other processes used %.2f CPUs%s", f.Host.Busy, on(f.Host))
	},
	finding.HypervisorTook: func(f finding.Finding) string {
		return fmt.Sprintf("the hypervisor took %.2f CPUs%s", f.Host.Busy, on(f.Host))
	},
	finding.TookFromRequests: func(f finding.Finding) string {
		return fmt.Sprintf("%s took CPU from about %.2g%% of the requests, in %d of %d intervals", named(f.Who), 100*f.Share, f.N, f.Of)
	},
	finding.AgentWaited: func(f finding.Finding) string {
		return fmt.Sprintf("the agent's threads waited for a CPU, %.2g of them on average, and it sent 1%% of the requests more than %.1f ms late", f.Value, f.Other)
	},
	finding.AgentThrottled: func(f finding.Finding) string {
		return fmt.Sprintf("an agent was throttled by its own CPU limit for %.2g s in each second", f.Value)
	},
	finding.AgentWaits: func(f finding.Finding) string {
		return fmt.Sprintf("the agent's threads waited %.2g s in each second for a CPU", f.Value)
	},
	finding.AgentLate: func(f finding.Finding) string {
		return fmt.Sprintf("1%% of the requests were sent more than %.1f ms late", f.Value)
	},
	finding.TrialDisturbed: func(f finding.Finding) string {
		return fmt.Sprintf("trial %d: %s", f.N, cmp.Or(f.Text, Others(f.Because)))
	},
}

// on names a machine, if there may be several: " on node a".
func on(h finding.Host) string {
	if h.Name == "" {
		return ""
	}
	return " on node " + h.Name
}

// named names sources, as in "… took CPU".
func named(s finding.Source) string {
	switch s {
	case 0:
		return "nobody"
	case finding.Neighbour:
		return "other processes"
	case finding.Hypervisor:
		return "the hypervisor"
	}
	return "other processes or the hypervisor"
}

// did words what sources did, such as "other processes took CPU".
func did(s finding.Source) string {
	const stopped = "a signal or a frozen control group stopped the service"
	switch who := s &^ finding.Stop; {
	case s == finding.Stop:
		return stopped
	case who == s:
		return named(who) + " took CPU"
	default:
		return named(who) + " took CPU and " + stopped
	}
}

// against is what to do about sources. Other processes can be stopped. CPU that the
// hypervisor gives to other machines is out of reach.
func against(s finding.Source) string {
	if s&finding.Stop != 0 {
		return "find out what stops the service, and search again"
	}
	switch s {
	case finding.Neighbour:
		return "stop them and search again"
	case finding.Hypervisor:
		return "search again where the hypervisor takes less"
	}
	return "stop the other processes, and search again where the hypervisor takes less"
}
