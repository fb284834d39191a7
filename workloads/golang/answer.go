package golang

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// refusal is why a request is not served; the client gets the text.
type refusal struct {
	status int
	reason string
}

func (r *refusal) Error() string { return r.reason }

func refusef(status int, format string, args ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// maxReason bounds, in bytes, a reason that may quote the client's own words.
const maxReason = 200

// content is the body of an answer and its type.
type content struct {
	kind string // Content-Type
	body []byte
}

// answer is what a server sends.
type answer struct {
	status int
	allow  string // methods, in an answer of 405
	content
}

// refuse is {"error": reason}, with the status of a refusal, or 500 for any other error.
func refuse(err error) answer {
	status := http.StatusInternalServerError
	if r, ok := errors.AsType[*refusal](err); ok {
		status = r.status
	}
	reason := err.Error()
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	// A struct of one string always encodes.
	body, _ := encode(struct {
		Error string `json:"error"`
	}{reason})
	return answer{status: status, content: body}
}

// encode is v as JSON, without a newline behind it: the bytes that JSON.stringify
// would give, so that all runtimes send the same number of them.
func encode(v any) (content, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return content{}, fmt.Errorf("encode the answer: %w", err)
	}
	return content{"application/json", body}, nil
}

// number reads decimal digits. The refusal does not quote them: they may be
// many, or missing.
func number(s string, low, high uint64) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n < low || n > high {
		return 0, refusef(http.StatusBadRequest, "n must be a whole number from %d to %d, in decimal digits", low, high)
	}
	return n, nil
}
