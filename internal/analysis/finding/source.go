package finding

// Source is who took CPU that the measurement needed, or stopped the service; 0: nobody.
// Several are joined by |.
type Source uint8

const (
	Neighbour  Source = 1 << iota // other processes of this host
	Hypervisor                    // what this host runs on: steal time
	Agent                         // the generator waited for a CPU, and sent late
	Stop                          // a signal (SIGSTOP) or a frozen control group held the service or a dependency
)
