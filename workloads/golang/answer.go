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

// refuse answers {"error": reason} and returns the status: that of a refusal, or 500
// for any other error.
func refuse(w http.ResponseWriter, err error) int {
	status := http.StatusInternalServerError
	if r, ok := errors.AsType[*refusal](err); ok {
		status = r.status
	}
	reason := err.Error()
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	// A struct of one string always encodes.
	_ = answer(w, status, struct {
		Error string `json:"error"`
	}{reason})
	return status
}

// answer writes v as JSON, without a newline behind it: the bytes that
// JSON.stringify would give, so that all runtimes send the same number of them.
// net/http adds the Content-Length.
func answer(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A failed write means that the client is gone: nobody would see an error.
	_, _ = w.Write(body)
	return nil
}

// pathNumber reads the path's {n}: decimal digits, low to high.
func pathNumber(r *http.Request, low, high uint64) (uint64, error) {
	return number(r.PathValue("n"), low, high)
}

// queryNumber reads the query's n, as pathNumber reads the path's.
func queryNumber(r *http.Request, low, high uint64) (uint64, error) {
	return number(r.URL.Query().Get("n"), low, high)
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
