package wording

import "github.com/millicore/millicore/internal/analysis/disturbance"

// did words what sources did, such as "other processes took CPU".
func did(s disturbance.Source) string {
	const stopped = "a signal or a frozen control group stopped the service"
	switch who := s &^ disturbance.Stop; {
	case s == disturbance.Stop:
		return stopped
	case who == s:
		return who.String() + " took CPU"
	default:
		return who.String() + " took CPU and " + stopped
	}
}

// against is what to do about sources. Other processes can be stopped. CPU that the
// hypervisor gives to other machines is out of reach.
func against(s disturbance.Source) string {
	if s&disturbance.Stop != 0 {
		return "find out what stops the service, and search again"
	}
	switch s {
	case disturbance.Neighbour:
		return "stop them and search again"
	case disturbance.Hypervisor:
		return "search again where the hypervisor takes less"
	}
	return "stop the other processes, and search again where the hypervisor takes less"
}
