package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// Trailers, in lower case, that have a call's code, its text, and when the service wants it to
// be sent again (https://github.com/grpc/proposal/blob/master/A6-client-retries.md).
const (
	codeField = "grpc-status"
	textField = "grpc-message"
	pushField = "grpc-retry-pushback-ms"
)

// IsCall reports whether a request is a gRPC call, by the content type in its head:
// application/grpc, or that with a suffix. The calls of gRPC-Web have their status in the body.
func IsCall(head []byte) bool {
	_, value, found := bytes.Cut(bytes.ToLower(head), []byte("\r\ncontent-type:"))
	rest, call := bytes.CutPrefix(bytes.TrimLeft(value, " \t"), []byte("application/grpc"))
	return found && call && (len(rest) == 0 || bytes.IndexByte([]byte("+; \t\r"), rest[0]) >= 0)
}

// Deadline is that of a call in a load with a timeout: a little before it, so that the service's
// DEADLINE_EXCEEDED arrives.
func Deadline(timeout time.Duration) time.Duration {
	return timeout - min(timeout/20, 50*time.Millisecond)
}

// AppendCall appends the trailers of an answer to a gRPC call: its code, -1 if there is none,
// its text, which is percent-encoded, and whether the service names a time before a retry.
func AppendCall(b []byte, code int, text string, pushback bool) []byte {
	if pushback {
		b = append(append(b, pushField...), ":\r\n"...)
	}
	b = append(append(b, codeField...), ':')
	if code >= 0 {
		b = strconv.AppendInt(b, int64(code), 10)
	}
	if b = append(b, "\r\n"...); text != "" {
		b = append(append(b, textField...), ':')
		for i := 0; i < len(text); i++ {
			if c := text[i]; valueByte(c) {
				b = append(b, c)
			}
		}
		b = append(b, "\r\n"...)
	}
	return b
}

// takeTrailer keeps what a trailer says of a gRPC call.
func (a *Answer) takeTrailer(name, value []byte) {
	switch {
	case len(name) == len(codeField) && equalFold(name, codeField):
		a.takeCode(trim(value))
	case len(name) == len(textField) && equalFold(name, textField):
		a.text = append(a.text[:0], trim(value)...)
	case len(name) == len(pushField) && equalFold(name, pushField):
		a.pushback = true
	}
}

// takeCode takes the code of a gRPC call. Where a proxy answers in place of the service, its
// status of HTTP says more than a code that is missing.
func (a *Answer) takeCode(value []byte) {
	code, err := strconv.Atoi(string(value))
	switch {
	case err == nil && code > 0 && code < len(signals.Codes):
		a.status = signals.FirstCall + code
	case a.status == 200 && (err != nil || code != 0):
		a.status = signals.NoCode
	case a.status == 200 && a.call != nil:
		a.status = cmp.Or(a.messages.Wrong(a.call), a.status)
	}
}

// Messages is how many messages of the answer to a gRPC call have come.
func (a *Answer) Messages() int { return a.messages.whole }

// Pushback reports whether the service of a gRPC call that failed named a time before a retry.
func (a *Answer) Pushback() bool { return a.pushback && a.status >= signals.FirstCall }

// Text is what the service says of a gRPC call that failed; "" if it says nothing.
func (a *Answer) Text() string {
	text, err := url.PathUnescape(string(a.text))
	if err != nil {
		text = string(a.text)
	}
	return strings.ToValidUTF8(text, "")
}

// encoded replaces a body without placeholders by what Encode makes of it. Of one that has some
// it checks what each random number can make of it, up to mostTried numbers, and the first
// value of the others.
func (r Request) encoded(body []piece) ([]piece, error) {
	if r.Encode == nil || r.Turns != nil {
		return body, nil
	}
	var once []byte
	try := func(body []piece) (err error) {
		if once, err = r.Encode(nil, appendPieces(nil, body, &Values{Seq: 1, Random: rand.New(rand.NewPCG(0, 0))})); err != nil {
			err = fmt.Errorf("request: body: %w", err)
		}
		return err
	}
	if !differs(body) {
		err := try(body)
		return []piece{{text: once}}, err
	}
	lowest := slices.Clone(body)
	for i := range lowest {
		lowest[i].numbers = 1
	}
	for i, p := range body {
		if p.kind != random {
			continue
		}
		for n := range min(p.numbers-1, mostTried) { // 0 - 1 is the whole range
			one := slices.Clone(lowest)
			one[i].low = int64(uint64(p.low) + (p.numbers-1)/min(p.numbers-1, mostTried)*(n+1))
			if err := try(one); err != nil {
				return nil, err
			}
		}
	}
	return body, try(lowest)
}

// mostTried bounds the values of a random number that are tried before the load.
const mostTried = 500

// appendEncoded appends what encode makes of a body. If it is no message, v has the error and
// the request must not be sent.
func (t *Template) appendEncoded(b []byte, v *Values) []byte {
	whole, err := t.encode(b, v.body)
	if err != nil {
		v.Err = fmt.Errorf("request %d: %w: %.200s", v.Seq, err, v.body)
	}
	return whole
}
