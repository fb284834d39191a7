package finding

// Who disturbed a trial, or a part of it, and what made the generator the limit.
const (
	Stopped          Kind = iota + 800 // Text, by a signal or a frozen control group, in intervals of Seconds together
	NeighboursUsed                     // Host.Busy of its CPUs
	HypervisorTook                     // likewise
	TookFromRequests                   // Who took CPU from a Share of the requests, in N of Of intervals
	AgentWaited                        // for a CPU, Value of its threads, and 1% of the requests were sent more than Other ms late
	AgentThrottled                     // by its own CPU limit, for Value s in each second
	AgentWaits                         // for a CPU, for Value s in each second
	AgentLate                          // 1% of the requests were sent more than Value ms late
	TrialDisturbed                     // N: Text is what the record has as the reason; "": Because has it
)
