// Package captured reads requests from what people have already: commands of curl, HAR files
// of browsers, targets of vegeta, JSON with one request a line, and descriptions by OpenAPI. Of
// an input it counts the entries, the distinct requests, and what cannot be sent, by reason. It
// is pure: it opens no connection and runs nothing of a command, and its caller reads the files
// that one names.
//
// What was recorded is what is sent, but for the headers that a generator sets for itself:
// see leftOut.
package captured

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/openapi"
)

// Format is the syntax of an input.
type Format int

// The formats.
const (
	Curl       Format = iota // commands of curl, in the quoting of a shell or of Windows' cmd
	HAR                      // HTTP Archive 1.1 and 1.2
	Targets                  // of vegeta, as text or as JSON
	Lines                    // JSON, one request a line, with keys of an experiment's mix
	Session                  // the same, with the steps of a session in their order
	OpenAPI                  // and Swagger 2.0; one request of each operation whose method changes no data
	AllOpenAPI               // with those whose methods may change data
)

// String is the name of a format for a sentence.
func (f Format) String() string {
	return [...]string{"curl", "HAR", "vegeta targets", "JSON lines", "a session", "OpenAPI", "OpenAPI"}[f]
}

// Bounds of what is read. An agent receives all bodies in one line.
const (
	MostRequests = 10_000
	MostBodies   = 32 << 20
)

// Request is a request that at least one entry of an input has.
type Request struct {
	Method  string
	Path    string // with its query; as all texts, with placeholders where the input had braces
	Host    string // in lower case, with a port that is not the scheme's own; "": the input names none
	TLS     bool   // its URL begins with https; of the first entry
	Headers map[string]string
	Body    string
	File    string         // with the body, as the input names it, in place of Body; "": none
	Name    string         // under which it is counted, of the first entry; "": by method and path
	Entries int            // that have it
	Weight  int            // the sum of theirs
	Check   map[string]any // which answers are good, with the keys of an experiment; nil: the usual ones
	Needs   []string       // flags for credentials that the input cannot have, of the first entry
	MadeUp  []string       // parameters, or "the body", whose values are made up, because the input has none, of the first entry
	// Think and Capture are those of a session's step; "" and nil: it has none.
	Think   string
	Capture map[string]string
}

// Input is what was read.
type Input struct {
	Entries  int       // that the input has
	Requests []Request // distinct ones, in the order of their first entries
	Skipped  []Count   // entries that cannot be sent, by reason
	Keys     []string  // names of headers, cookies and query parameters that it describes as keys
	Unused   []string  // flags and headers of curl that have no effect on the requests
}

// Count is how many entries have something.
type Count struct {
	What    string // a reason, as in "with a data: URL", or a host
	Entries int
}

// Sent is the part of an input that goes to one host.
type Sent struct {
	Requests []Request
	Host     string  // that their URLs name; "": none names one
	Entries  int     // of the requests
	Dropped  []Count // other hosts, those with most entries first
}

// Files reads a file that a command of curl names, where what is sent is not the file unchanged.
type Files func(name string) ([]byte, error)

// Read reads an input. It is an error if it has no request that can be sent.
func Read(f Format, data []byte, files Files) (*Input, error) {
	return read(f, data, files, nil)
}

// ReadOpenAPI reads a description, with values of parameters by their names.
func ReadOpenAPI(f Format, data []byte, values map[string]string) (*Input, error) {
	return read(f, data, nil, values)
}

func read(f Format, data []byte, files Files, values map[string]string) (*Input, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // as Windows' tools begin a file
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return nil, errors.New("it is in UTF-16; save it as UTF-8")
	}
	switch text := bytes.TrimSpace(data); {
	case len(text) == 0:
		return nil, errors.New("it is empty")
	case f != Curl && isScript(text):
		return nil, errScript
	}
	c := &collector{index: map[string]int{}, reasons: map[string]int{}, files: files}
	var err error
	switch f {
	case Curl:
		err = c.curl(string(data))
	case HAR:
		err = c.har(data)
	case Targets:
		err = c.targets(data)
	case Lines, Session:
		c.steps = f == Session
		err = c.lines(data)
	default:
		err = c.openapi(data, openapi.How{All: f == AllOpenAPI, Values: values})
	}
	switch {
	case err != nil:
		return nil, err
	case c.in.Entries == 0:
		return nil, errors.New("it has no request")
	case c.steps && len(c.in.Skipped) > 0:
		return nil, fmt.Errorf("a session needs each of its requests, and it has some that cannot be sent: %s", c.in.SkippedWords())
	case c.steps && len(c.in.For("").Dropped) > 0:
		return nil, fmt.Errorf("a session talks to one service, and its requests name the hosts %s and %s", c.in.For("").Host, c.in.For("").Dropped[0].What)
	case len(c.in.Requests) == 0:
		return nil, fmt.Errorf("it has no request that can be sent: %s", c.in.SkippedWords())
	case len(c.in.Requests) > MostRequests:
		return nil, fmt.Errorf("it has %d different requests, and the maximum is %d; use a part of it", len(c.in.Requests), MostRequests)
	case c.bodies > MostBodies:
		return nil, fmt.Errorf("its bodies have %d MiB together, and the maximum is %d MiB; use a part of it", c.bodies>>20, MostBodies>>20)
	}
	return &c.in, nil
}

// Detect finds the format of a file by its content.
func Detect(data []byte) (Format, error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	switch {
	case len(text) == 0:
		return 0, errors.New("it is empty")
	case text[0] == '{' && hasLog(text):
		return HAR, nil
	case text[0] == '{' && vegetaLine(first):
		return Targets, nil
	case text[0] == '{' && ownLine(first):
		if step.Match(text) {
			return Session, nil
		}
		return Lines, nil
	case curlLine.Match(text):
		return Curl, nil
	case isScript(text):
		return 0, errScript
	case describing.Match(text):
		return OpenAPI, nil
	case firstTarget.Match(text):
		return Targets, nil
	}
	return 0, fmt.Errorf("it is neither curl, HAR, vegeta targets, JSON lines nor OpenAPI: it begins with %q", cut(string(first)))
}

// step is a key that only a step of a session has.
var step = regexp.MustCompile(`"(capture|think)"\s*:`)

// describing names the version of a description of a service.
var describing = regexp.MustCompile(`(?m)(^|[{,])\s*["']?(openapi|swagger)["']?\s*:\s*["']?[123]\b`)

// curlLine begins a command of curl.
var curlLine = regexp.MustCompile(`(?m)^(\$ )?curl(\.exe)?\s`)

// errScript is the error of a script of k6.
var errScript = errors.New("it is a script, and scripts are not run; docs/coming-from-k6.md has what a k6 script is here")

// isScript reports whether a text is a script of k6.
func isScript(text []byte) bool {
	return text[0] != '{' && (bytes.HasPrefix(text, []byte("import ")) || bytes.Contains(text, []byte("export default function")))
}

// cut shortens a text for an error.
func cut(text string) string {
	if len(text) > 40 {
		return strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
}

// SkippedWords are the skipped entries: "2 with a data: URL, 1 without a URL".
func (in *Input) SkippedWords() string {
	all := make([]string, len(in.Skipped))
	for i, s := range in.Skipped {
		all[i] = fmt.Sprintf("%d %s", s.Entries, s.What)
	}
	return strings.Join(all, ", ")
}

// For is what is sent to a host: the requests that name it, or if none does, those that name
// the host with most entries; and those that name none.
func (in *Input) For(host string) Sent {
	counts := map[string]int{}
	var order []string
	for _, r := range in.Requests {
		if r.Host == "" {
			continue
		}
		if counts[r.Host] == 0 {
			order = append(order, r.Host)
		}
		counts[r.Host] += r.Entries
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var s Sent
	if len(order) > 0 {
		s.Host = order[0]
	}
	for _, name := range []string{Host(host, true), Host(host, false)} {
		if counts[name] > 0 {
			s.Host = name
		}
	}
	for _, name := range order {
		if name != s.Host {
			s.Dropped = append(s.Dropped, Count{name, counts[name]})
		}
	}
	for _, r := range in.Requests {
		if r.Host == "" || r.Host == s.Host {
			s.Requests = append(s.Requests, r)
			s.Entries += r.Entries
		}
	}
	return s
}

// collector merges equal requests.
type collector struct {
	in      Input
	files   Files
	index   map[string]int // of a request, by its key
	reasons map[string]int // of a reason, among the skipped
	bodies  int            // bytes
	steps   bool           // equal requests are not merged
}

// add takes an entry.
func (c *collector) add(e *entry) {
	r, why := e.request()
	if why != "" {
		c.skip(why)
		return
	}
	r.Name, r.Check, r.Think, r.Capture = e.name, e.check, e.think, e.capture
	r.Needs, r.MadeUp = e.needs, e.madeUp
	c.in.Entries++
	key := r.key()
	i, seen := c.index[key]
	if !seen || c.steps {
		i = len(c.in.Requests)
		c.index[key] = i
		c.in.Requests = append(c.in.Requests, r)
		c.bodies += len(r.Body)
	}
	c.in.Requests[i].Entries++
	c.in.Requests[i].Weight = min(c.in.Requests[i].Weight+max(1, e.weight), mostWeight)
}

// mostWeight is the highest weight of a request in a mix.
const mostWeight = 999_999_999

// skip counts an entry that cannot be sent.
func (c *collector) skip(why string) {
	c.in.Entries++
	i, seen := c.reasons[why]
	if !seen {
		i = len(c.in.Skipped)
		c.reasons[why] = i
		c.in.Skipped = append(c.in.Skipped, Count{What: why})
	}
	c.in.Skipped[i].Entries++
}

// unused names something of an input that has no effect, once.
func (c *collector) unused(what string) {
	if !slices.Contains(c.in.Unused, what) {
		c.in.Unused = append(c.in.Unused, what)
	}
}

// key is equal for equal requests only.
func (r *Request) key() string {
	var b strings.Builder
	part := func(text string) {
		b.WriteString(strconv.Itoa(len(text)))
		b.WriteByte(':')
		b.WriteString(text)
	}
	for _, text := range []string{r.Method, r.Host, r.Path, r.Body, r.File, fmt.Sprint(r.Check)} {
		part(text)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		part(name)
		part(r.Headers[name])
	}
	return b.String()
}
