package signals

// Sessions are the sessions of users, of a load that has them. One that is under way at the end of
// the load has begun, and is neither whole nor broken.
type Sessions struct {
	Begun  int64 `json:"begun"`  // whose first request ended
	Whole  int64 `json:"whole"`  // with a good answer to each request
	Broken int64 `json:"broken"` // with a request that had none, which was their last
	// Missing are the values that a good answer lacked, by their names: the answer then counts as
	// failed.
	Missing map[string]int64 `json:"missing,omitempty"`
}

// SessionStepped counts a request of a session: it was the first one, the last of a whole one, or
// broke one off, and its answer lacked the missing values.
func (c *Client) SessionStepped(first, whole, broken bool, missing []string) {
	if c.Sessions == nil {
		c.Sessions = &Sessions{}
	}
	s := c.Sessions
	s.Begun, s.Whole, s.Broken = s.Begun+toInt(first), s.Whole+toInt(whole), s.Broken+toInt(broken)
	for _, name := range missing {
		if s.Missing == nil {
			s.Missing = map[string]int64{}
		}
		s.Missing[name]++
	}
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
	sum.Begun, sum.Whole, sum.Broken = sum.Begun+more.Begun, sum.Whole+more.Whole, sum.Broken+more.Broken
	for name, n := range more.Missing {
		if sum.Missing == nil {
			sum.Missing = map[string]int64{}
		}
		sum.Missing[name] += n
	}
	return sum
}
