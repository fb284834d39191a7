package wire

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/load/session"
)

// Template is a request with placeholders. It is compiled once; to render it, the fixed
// bytes are copied and the placeholders filled in.
//
// The path, the values of headers and the body may have these placeholders:
//
//	{{seq}}         the number of the request, unique within a trial
//	{{uuid}}        a random UUID (RFC 9562, version 4), a new one for each placeholder
//	{{rand 1 100}}  a random whole number from the first to the second
//	{{"text"}}      the text itself, as Go would unquote it: {{"{{"}} is {{
//	{{name}}        a value of the session, of those in Request.Names
//	{{urlquery name}}  the same, escaped for a query or a form
type Template struct {
	head, body []piece
	fixed      []byte // the whole request, if it has no placeholders
	encode     func(b, body []byte) ([]byte, error)
	turns      [][]byte // encoded bodies, of which each request has the next
	measured   bool     // the body has placeholders, so its length is written at each rendering
	answerless bool
	idempotent bool
	closes     bool
	call       *Call // what its answer may have, if it is a gRPC call
}

// piece is a part of a request: fixed bytes or a placeholder.
type piece struct {
	kind    valueKind
	text    []byte
	low     int64 // random
	numbers uint64
	index   int // of a value of the session
}

type valueKind uint8

const (
	plain valueKind = iota
	sequence
	uuid
	random
	ofSession // a value of the session
	inPath    // the same, in a path: bytes that end the path are escaped
	asPath    // the same, with which a path begins: of a URL, the part that is sent
	inQuery   // the same, escaped for a query or a form
	cookies   // the header with the session's cookies, if it has any
	recorded
)

// Values are the values of a template's placeholders. The caller increments Seq; Random
// must not be nil.
type Values struct {
	Seq    uint64
	Random *rand.Rand
	Path   string // of a recorded request
	Err    error  // of a request whose values make no message
	// Session has the session whose request this is; nil: the load has none.
	Session *session.Session

	body []byte // buffer for a body whose length is not known yet
}

// Compile checks the request as Bytes does, and compiles it. The error about an unknown
// placeholder names it.
func (r Request) Compile() (*Template, error) {
	if r.Recorded {
		r.Path = "/"
	}
	path, err := r.pieces("path", r.Path)
	if err != nil {
		return nil, err
	}
	body := []piece{{text: []byte(r.Body)}}
	if !r.Raw {
		if body, err = r.pieces("body", r.Body); err != nil {
			return nil, err
		}
	}
	sample := r
	sample.Path, sample.Body = example(path), example(body)
	sample.Headers = make(map[string]string, len(r.Headers))
	closes := false
	for name, value := range r.Headers {
		field, err := r.pieces("header "+name, value)
		if err != nil {
			return nil, err
		}
		sample.Headers[name] = example(field)
		closes = closes || strings.EqualFold(name, "Connection") && hasToken(sample.Headers[name], "close")
	}
	if _, err := sample.Bytes(); err != nil {
		return nil, err
	}
	if body, err = r.encoded(body); err != nil {
		return nil, err
	}
	t := &Template{body: body, encode: r.Encode, measured: differs(body), answerless: r.Method == "HEAD", idempotent: isIdempotent(r.Method), closes: closes}
	length := len(sample.Body)
	if t.measured {
		length = unknown
	}
	// All parts were checked, so the head as a whole is valid too.
	if t.head, err = r.headPieces(length); err != nil {
		return nil, err
	}
	if r.Recorded {
		method, after, _ := strings.Cut(string(t.head[0].text), "/") // of the request line
		t.head = append([]piece{{text: []byte(method)}, {kind: recorded}, {text: []byte(after)}}, t.head[1:]...)
	}
	for _, one := range r.Turns {
		encoded, err := r.Encode(nil, one)
		if err != nil {
			return nil, fmt.Errorf("request: body: message %d: %w", len(t.turns)+1, err)
		}
		t.turns = append(t.turns, encoded)
	}
	if r.Encode != nil || IsCall([]byte(r.lines(length))) {
		t.call = &r.Call
	}
	if !t.measured && !differs(t.head) && len(t.turns) < 2 {
		t.fixed = t.Append(nil, &Values{})
		t.head, t.body = nil, nil
	}
	return t, nil
}

// Fixed is the whole request if it has no placeholders, else nil.
func (t *Template) Fixed() []byte { return t.fixed }

// Head reports whether the request is HEAD, whose answer has no body.
func (t *Template) Head() bool { return t.answerless }

// Idempotent reports whether to process the request twice has the effect of once, so that
// it may be sent again if nothing is known of the first time.
func (t *Template) Idempotent() bool { return t.idempotent }

// Call is what the answer may have, if the request is a gRPC call; else nil.
func (t *Template) Call() *Call { return t.call }

// Closes reports whether the request announces that it is the last one on its
// connection: then no other may follow (RFC 9112, 9.6), regardless of the answer.
func (t *Template) Closes() bool { return t.closes }

// Append appends the request with these values to b. It does not allocate once b and v
// are large enough.
func (t *Template) Append(b []byte, v *Values) []byte {
	if t.fixed != nil {
		return append(b, t.fixed...)
	}
	b = appendPieces(b, t.head, v)
	if n := uint64(len(t.turns)); n > 0 {
		return append(append(b, "\r\n"...), t.turns[(v.Seq+n-1)%n]...) // the first request has the number 1
	}
	if !t.measured {
		b = append(b, "\r\n"...)
		return appendPieces(b, t.body, v)
	}
	v.body = appendPieces(v.body[:0], t.body, v)
	if t.encode != nil {
		return t.appendEncoded(append(b, "\r\n"...), v)
	}
	b = append(b, contentLength...)
	b = strconv.AppendInt(b, int64(len(v.body)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, v.body...)
}

func appendPieces(b []byte, all []piece, v *Values) []byte {
	for i := range all {
		switch p := &all[i]; p.kind {
		case sequence:
			b = strconv.AppendUint(b, v.Seq, 10)
		case recorded:
			b = append(b, v.Path...)
		case uuid:
			b = appendUUID(b, v.Random.Uint64(), v.Random.Uint64())
		case random:
			n := v.Random.Uint64()
			if p.numbers != 0 { // 0: the whole range of 64 bits
				n = v.Random.Uint64N(p.numbers)
			}
			b = strconv.AppendInt(b, int64(uint64(p.low)+n), 10)
		case ofSession:
			b = append(b, v.value(p.index)...)
		case inPath:
			b = appendEscaped(b, v.value(p.index))
		case asPath:
			b = appendEscaped(b, target(v.value(p.index)))
		case inQuery:
			b = append(b, url.QueryEscape(v.value(p.index))...)
		case cookies:
			if v.Session != nil {
				b = v.Session.AppendCookies(b)
			}
		default:
			b = append(b, p.text...)
		}
	}
	return b
}

// value is a value of the session; of none an example.
func (v *Values) value(index int) string {
	if v.Session == nil {
		return "/x" // as a path may begin with one
	}
	return v.Session.Values[index]
}

// appendEscaped appends a value to a path, which must not end there.
func appendEscaped(b []byte, value string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(value) {
		if c := value[i]; c <= ' ' || c >= 0x7f {
			b = append(b, '%', digits[c>>4], digits[c&15])
		} else {
			b = append(b, c)
		}
	}
	return b
}

// target is what is sent of the URL of a redirect: neither its scheme and its host, because a
// session talks to one service, nor its fragment.
func target(location string) string {
	location, _, _ = strings.Cut(location, "#")
	if scheme, rest, ok := strings.Cut(location, "://"); ok && !strings.ContainsAny(scheme, "/?") {
		if location = ""; strings.ContainsAny(rest, "/?") {
			location = rest[strings.IndexAny(rest, "/?"):]
		}
	}
	if !strings.HasPrefix(location, "/") {
		location = "/" + location
	}
	return location
}

// appendUUID writes 128 random bits, six of which are fixed by RFC 9562.
func appendUUID(b []byte, high, low uint64) []byte {
	high = high&^0xf000 | 0x4000
	low = low&^(3<<62) | 1<<63
	const digits = "0123456789abcdef"
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			b = append(b, '-')
		}
		word := high
		if i >= 16 {
			word = low
		}
		b = append(b, digits[word>>(60-4*(i%16))&15])
	}
	return b
}

// differs reports whether any piece is a placeholder.
func differs(all []piece) bool {
	for _, p := range all {
		if p.kind != plain {
			return true
		}
	}
	return false
}

// example is a text with example values for its placeholders.
func example(all []piece) string {
	return string(appendPieces(nil, all, &Values{Random: rand.New(rand.NewPCG(0, 0))}))
}

const opening, closing = "{{", "}}"

// headPieces splits the head, whose body has a length, at its placeholders.
func (r Request) headPieces(length int) ([]piece, error) {
	first, rest, _ := strings.Cut(r.lines(length), "\r\n")
	head, err := r.pieces("head", first+"\r\n")
	if err != nil {
		return nil, err
	}
	for i := range head {
		switch {
		case head[i].kind != ofSession:
		case i == 1 && string(head[0].text) == cmp.Or(r.Method, "GET")+" ":
			head[i].kind = asPath
		default:
			head[i].kind = inPath
		}
	}
	fields, err := r.pieces("head", rest)
	head = append(head, fields...)
	if r.Cookies {
		head = append(head, piece{kind: cookies})
	}
	return head, err
}

// pieces splits a text at its placeholders.
func (r Request) pieces(where, text string) ([]piece, error) {
	var all []piece
	plainly := func(s string) {
		switch n := len(all); {
		case s == "":
		case n > 0 && all[n-1].kind == plain:
			all[n-1].text = append(all[n-1].text, s...)
		default:
			all = append(all, piece{text: []byte(s)})
		}
	}
	for {
		before, rest, found := strings.Cut(text, opening)
		plainly(before)
		if !found {
			return all, nil
		}
		inner, after, err := placeholder(rest)
		if err != nil {
			return nil, fmt.Errorf("request: %s: %w", where, err)
		}
		text = after
		if quoted, err := strconv.Unquote(inner); err == nil && inner[0] != '\'' {
			plainly(quoted)
			continue
		}
		if i := slices.Index(r.Names, inner); i >= 0 {
			all = append(all, piece{kind: ofSession, index: i})
			continue
		}
		if words := strings.Fields(inner); len(words) == 2 && words[0] == "urlquery" && slices.Contains(r.Names, words[1]) {
			all = append(all, piece{kind: inQuery, index: slices.Index(r.Names, words[1])})
			continue
		}
		p, err := value(inner)
		if err != nil {
			return nil, fmt.Errorf("request: %s: %w", where, err)
		}
		all = append(all, p)
	}
}

// placeholder splits the text after an opening at its closing. A closing within a
// quoted text does not count.
func placeholder(text string) (inner, after string, err error) {
	start := strings.TrimLeft(text, " ")
	if quoted, err := strconv.QuotedPrefix(start); err == nil {
		if rest := strings.TrimLeft(start[len(quoted):], " "); strings.HasPrefix(rest, closing) {
			return quoted, rest[len(closing):], nil
		}
	}
	inner, after, found := strings.Cut(text, closing)
	if !found {
		return "", "", fmt.Errorf("%s%.20s has no %s; write {{\"{{\"}} to send two braces", opening, text, closing)
	}
	return strings.TrimSpace(inner), after, nil
}

// value parses the text between the braces.
func value(inner string) (piece, error) {
	words := strings.Fields(inner)
	switch {
	case len(words) == 1 && words[0] == "seq":
		return piece{kind: sequence}, nil
	case len(words) == 1 && words[0] == "uuid":
		return piece{kind: uuid}, nil
	case len(words) == 3 && words[0] == "rand":
		low, err := strconv.ParseInt(words[1], 10, 64)
		high, err2 := strconv.ParseInt(words[2], 10, 64)
		if err != nil || err2 != nil || low > high {
			return piece{}, fmt.Errorf("{{%s}}: want two whole numbers, the lower one first, as in {{rand 1 100}}", inner)
		}
		return piece{kind: random, low: low, numbers: uint64(high) - uint64(low) + 1}, nil
	}
	return piece{}, fmt.Errorf("{{%s}} is not a placeholder; want {{seq}}, {{uuid}}, {{rand 1 100}} or {{\"text\"}} (of a session also {{session}}, and what an earlier answer gave); write {{\"{{\"}} to send two braces", inner)
}
