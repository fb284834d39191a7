package summary

import (
	"cmp"
	"slices"
)

// ErrorCounts are the requests without a good answer, by the reason.
type ErrorCounts struct {
	Timeouts int64 `json:"timeouts"`
	// Unaccepted are the timeouts on new connections on which nothing arrived, while
	// answers arrived on others.
	Unaccepted int64            `json:"unaccepted,omitempty"`
	Refused    int64            `json:"refused"`
	Cut        int64            `json:"cut"`
	Malformed  int64            `json:"malformed"`
	Failed     int64            `json:"failed_checks"` // a check rejected the answer, and not because of its status
	Status     map[string]int64 `json:"status"`        // by code, those outside 200 to 299 that no check accepts
	// Said has, by the name of a gRPC code, what the service said first of such a call.
	Said map[string]string `json:"said,omitempty"`
	// Pushbacks are those of Status with a time before a retry (grpc-retry-pushback-ms).
	Pushbacks int64 `json:"pushbacks,omitempty"`
	Dropped   int64 `json:"dropped"`
}

// OfService is how many requests the service refused, did not answer, or answered with an
// error.
func (e *ErrorCounts) OfService() int64 {
	n := e.Timeouts + e.Refused + e.Cut
	for _, of := range e.Status {
		n += of
	}
	return n
}

// Add adds other counts.
func (e *ErrorCounts) Add(o *ErrorCounts) {
	e.Timeouts += o.Timeouts
	e.Unaccepted += o.Unaccepted
	e.Refused += o.Refused
	e.Cut += o.Cut
	e.Malformed += o.Malformed
	e.Failed += o.Failed
	e.Dropped += o.Dropped
	e.Pushbacks += o.Pushbacks
	for code, n := range o.Status {
		if e.Status == nil {
			e.Status = map[string]int64{}
		}
		e.Status[code] += n
	}
	for code, text := range o.Said {
		if e.Said == nil {
			e.Said = map[string]string{}
		}
		e.Said[code] = cmp.Or(e.Said[code], text)
	}
}

// Failure is a kind of failed requests, in the glossary's words.
type Failure struct {
	Name string // of a figure: "refused"
	N    int64  // of requests
}

// Refused is the name of the requests for which no connection could be opened.
const Refused = "refused"

// BadStatus is the name of the answers whose status was not accepted.
const BadStatus = "bad status"

// Failures are the kinds of failed requests that occurred, in the glossary's order.
func (e *ErrorCounts) Failures() []Failure {
	return slices.DeleteFunc([]Failure{
		{"timeout", e.Timeouts},
		{Refused, e.Refused},
		{"cut off", e.Cut},
		{"malformed", e.Malformed},
		{"failed check", e.Failed},
		{BadStatus, e.BadStatuses()},
		{"dropped", e.Dropped},
	}, func(f Failure) bool { return f.N == 0 })
}

// BadStatuses is the number of answers whose status was not accepted.
func (e *ErrorCounts) BadStatuses() int64 {
	var all int64
	for _, n := range e.Status {
		all += n
	}
	return all
}

// Sum counts all of them.
func (e *ErrorCounts) Sum() int64 {
	n := e.Timeouts + e.Refused + e.Cut + e.Malformed + e.Failed + e.Dropped
	for _, k := range e.Status {
		n += k
	}
	return n
}
