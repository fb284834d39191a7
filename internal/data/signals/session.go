package signals

// Sessions are the sessions of users that ended, of a load that has them.
type Sessions struct {
	Whole  int64 `json:"whole"`  // with a good answer to each request
	Broken int64 `json:"broken"` // with a request that had none
	// Missing are the values that a good answer lacked, by their names: the answer then counts as
	// failed.
	Missing map[string]int64 `json:"missing,omitempty"`
}

// SessionEnded counts a request of a session: it was the last of a whole one, or broke one off,
// and its answer lacked the missing values.
func (c *Client) SessionEnded(whole, broken bool, missing []string) {
	if !whole && !broken {
		return
	}
	one := &Sessions{Whole: toInt(whole), Broken: toInt(broken)}
	for _, name := range missing {
		if one.Missing == nil {
			one.Missing = map[string]int64{}
		}
		one.Missing[name]++
	}
	c.Sessions = PlusSessions(c.Sessions, one)
}

func toInt(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// PlusSessions adds counts to those of other intervals or agents, which may be nil, and returns
// these.
func PlusSessions(sum, more *Sessions) *Sessions {
	if more == nil {
		return sum
	}
	if sum == nil {
		sum = &Sessions{}
	}
	sum.Whole, sum.Broken = sum.Whole+more.Whole, sum.Broken+more.Broken
	for name, n := range more.Missing {
		if sum.Missing == nil {
			sum.Missing = map[string]int64{}
		}
		sum.Missing[name] += n
	}
	return sum
}
