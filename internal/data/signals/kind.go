package signals

// Kind is what the requests of one kind did, of a load that has several.
type Kind struct {
	Sent  int64 `json:"sent,omitempty"` // requests that left
	Ended int64 `json:"ended"`          // requests that ended, good or not
	Good  int64 `json:"good"`
	// Latency is that of Client, of these requests.
	Latency *Histogram `json:"latency"`
}

// Timeouts are those of its requests: their latencies are in Latency, as those of good ones.
func (k *Kind) Timeouts() int64 { return k.Latency.Count() - k.Good }

// KindOf is the kind of a name, which is made if it is not there.
func (c *Client) KindOf(name string) *Kind {
	if c.Kinds == nil {
		c.Kinds = map[string]*Kind{}
	}
	return kindOf(c.Kinds, name)
}

// Left counts a request that left by the name of its kind; "": it is not counted apart.
func (c *Client) Left(name string) {
	if name != "" {
		c.KindOf(name).Sent++
	}
}

func kindOf(kinds map[string]*Kind, name string) *Kind {
	k := kinds[name]
	if k == nil {
		k = &Kind{Latency: NewHistogram()}
		kinds[name] = k
	}
	return k
}

// PlusKinds adds kinds to those of other intervals or agents, which may be nil, and returns these.
func PlusKinds(sum, more map[string]*Kind) map[string]*Kind {
	if sum == nil && more != nil {
		sum = map[string]*Kind{}
	}
	for name, o := range more {
		k := kindOf(sum, name)
		k.Sent, k.Ended, k.Good = k.Sent+o.Sent, k.Ended+o.Ended, k.Good+o.Good
		k.Latency.Merge(o.Latency)
	}
	return sum
}
