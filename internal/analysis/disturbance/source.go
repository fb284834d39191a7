package disturbance

// Source is who took CPU that the measurement needed, or stopped the service; 0: nobody.
// Several are joined by |.
type Source uint8

const (
	Neighbour  Source = 1 << iota // other processes of this host
	Hypervisor                    // what this host runs on: steal time
	Agent                         // the generator waited for a CPU, and sent late
	Stop                          // a signal (SIGSTOP) or a frozen control group held the service or a dependency
)

// Did states what the sources did, such as "other processes took CPU".
func (s Source) Did() string {
	switch who := s &^ Stop; {
	case s == Stop:
		return stopped
	case who == s:
		return who.String() + " took CPU"
	default:
		return who.String() + " took CPU and " + stopped
	}
}

const stopped = "a signal or a frozen control group stopped the service"

// String names the sources, as in "… took CPU".
func (s Source) String() string {
	switch s {
	case 0:
		return "nobody"
	case Neighbour:
		return "other processes"
	case Hypervisor:
		return "the hypervisor"
	}
	return "other processes or the hypervisor"
}

// Advice returns what to do about them. Other processes can be stopped. CPU that the
// hypervisor gives to other machines is out of reach.
func (s Source) Advice() string {
	if s&Stop != 0 {
		return "find out what stops the service, and search again"
	}
	switch s {
	case Neighbour:
		return "stop them and search again"
	case Hypervisor:
		return "search again where the hypervisor takes less"
	}
	return "stop the other processes, and search again where the hypervisor takes less"
}
