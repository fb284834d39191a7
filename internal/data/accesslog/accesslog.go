// Package accesslog reads the access logs of servers and proxies, and says what traffic they
// show: which requests, how often, and when. It reads bytes only: no file and no network.
//
// Formats are found line by line: the common and combined format of nginx and Apache and what
// resembles it (HAProxy, LiteSpeed, Traefik, with or without a virtual host in front), the text
// of Envoy and of AWS load balancers, JSON of Caddy, Traefik, Envoy, nginx and Google's load
// balancers, and the W3C format of IIS and CloudFront. Each may be behind the prefix that
// container runtimes (CRI), compose and syslog write, or inside of Docker's JSON.
package accesslog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Entry is a request of a log. Its zero fields are not in the log.
type Entry struct {
	Time   time.Time
	Method string
	Path   string // with its query
	Host   string
	Status int
	// Took is the duration of a request whose Time is that of its end; 0: Time is that of its
	// begin, or the duration is not known. In the common format Apache writes the begin, and nginx
	// the end without the duration.
	Took time.Duration
}

// zoneless is the zone of times of which the log does not name the zone. They are read as UTC.
var zoneless = time.FixedZone("of an unknown zone", 0)

// longest is the length of a line in bytes at most; longer ones are skipped.
const longest = 1 << 20

// The reasons for which lines are skipped.
const (
	reasonLong    = "longer than 1 MiB"
	reasonUnknown = "no request in a known format"
	reasonRequest = "not a request of HTTP, such as bytes of TLS or none"
	reasonNoPath  = "whose target is no path, such as OPTIONS * or CONNECT"
)

// Read calls use for each request of a log, in the order of its lines, and counts the lines,
// without those that are empty or name the fields of the others, and those that have no request,
// by reason.
func Read(r io.Reader, use func(Entry)) (lines int, skipped map[string]int, err error) {
	skipped = map[string]int{}
	in := bufio.NewReaderSize(r, 1<<16)
	var named w3c
	for {
		line, long, err := nextLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return lines, skipped, fmt.Errorf("read line %d: %w", lines+1, err)
		}
		if text := strings.TrimSpace(line); (text != "" || long) && !named.directive(text) {
			lines++
			e, why := parse(text)
			if why == reasonUnknown && named.fields != nil {
				e, why = named.parse(text)
			}
			switch {
			case long:
				skipped[reasonLong]++
			case why != "":
				skipped[why]++
			default:
				use(e)
			}
		}
		if err != nil {
			return lines, skipped, nil
		}
	}
}

// nextLine reads a line. Of one that is longer than longest it keeps nothing.
func nextLine(in *bufio.Reader) (line string, long bool, err error) {
	var all []byte
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(all)+len(part) > longest; !long {
			all = append(all, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if long {
				all = nil
			}
			return string(all), long, err
		}
	}
}

var (
	// cri is the prefix of a container runtime: time, stream, F or P.
	cri = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] `)
	// jsonBegins is a line with an object of JSON, which may have a prefix.
	jsonBegins = regexp.MustCompile(`^(?:\{|[^"{]*\{ *")`)
	// request is a quoted request line. Quotes in it are escaped.
	request = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	// requestLine is what a client of HTTP sends first. Very old ones leave out the version.
	requestLine = regexp.MustCompile(`^([A-Z][A-Z-]{1,19}) (\S+)(?: HTTP/\d(?:\.\d)?)?$`)
	common      = regexp.MustCompile(`\[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d)(\.\d+)?( [+-]\d{4})?\]`)
	iso         = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)`)
	// virtual is what some formats have before the address of the client: a host.
	virtual    = regexp.MustCompile(`^(\S+) (\S+) \S+ (?:\S+ )?\[`)
	afterwards = regexp.MustCompile(`^ (\d{3})\b`) // the status behind the request
	// manager is a line of Nginx Proxy Manager: [time] - 200 200 - GET https HOST "/path".
	manager  = regexp.MustCompile(`^\[[^\]]+\] (?:- )?(\d{3})(?: \S+)? - ([A-Z]+) https? (\S+) "(/[^"]*)"`)
	balancer = regexp.MustCompile(`^(?:http|https|h2|grpcs) \d`) // a line of an AWS load balancer
	// before is what stands before the status of an older one (a Classic Load Balancer), and of
	// HAProxy.
	before = regexp.MustCompile(`(?:^\d{4}-\S+ \S+ \S+:\d+ \S+ [-.\d]+ [-.\d]+ [-.\d]+|\] \S+ \S+/\S+ [-+/\d]+) +(\d{3}) `)
	// escapes are the characters that a path cannot have, and how servers write them and a quote:
	// \x22 (nginx, Apache), \" and \\ (Apache).
	escapes = regexp.MustCompile(`\\x[0-9A-Fa-f]{2}|\\["\\]|[^!-~]`)
	// created is the begin of a request in such a line, behind the priority of a rule. The line
	// begins with the end.
	created = regexp.MustCompile(`" -?\d+ (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) "`)
)

// parse reads a line; why is the reason for which it has no request.
func parse(line string) (e Entry, why string) {
	if at := cri.FindStringIndex(line); at != nil {
		line = line[at[1]:]
	}
	if object := strings.IndexByte(line, '{'); object >= 0 && jsonBegins.MatchString(line) {
		return parseJSON(line[object:])
	}
	if m := manager.FindStringSubmatch(line); m != nil {
		status, _ := strconv.Atoi(m[1])
		return Entry{Time: timeOf(line), Method: m[2], Path: m[4], Host: m[3], Status: status}, ""
	}
	for _, at := range request.FindAllStringSubmatchIndex(line, -1) {
		if found := requestLine.FindStringSubmatch(line[at[2]:at[3]]); found != nil {
			e = Entry{Method: found[1], Host: hostBefore(line)}
			if why := e.target(found[2]); why != "" {
				return e, why
			}
			e.Time, e.Status = timeOf(line[:at[0]]), statusOf(line, at[1])
			if m := created.FindStringSubmatch(line[at[1]:]); m != nil && balancer.MatchString(line) {
				e.Time = isoTime(m[1])
			}
			if e.Time.IsZero() && e.Status == 0 {
				return e, reasonUnknown // an error log names requests too
			}
			return e, ""
		}
		if common.MatchString(line[:at[0]]) {
			return e, reasonRequest // the first quoted text behind the time is the request
		}
	}
	return e, reasonUnknown
}

// hostBefore is the host before the address of a client: "shop.example:443 192.0.2.7 - - [";
// "": there is none.
func hostBefore(line string) string {
	m := virtual.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	if _, err := netip.ParseAddr(m[2]); err != nil {
		return ""
	}
	return hostname(m[1])
}

// target sets the path, and the host of an absolute URL. It returns a reason for other forms, such
// as the host and port of CONNECT.
func (e *Entry) target(text string) (why string) {
	if strings.HasPrefix(text, "/") {
		e.Path = escapes.ReplaceAllStringFunc(text, func(s string) string {
			if strings.HasPrefix(s, `\x`) {
				return "%" + strings.ToUpper(s[2:])
			}
			return url.PathEscape(strings.TrimPrefix(s, `\`))
		})
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case text == "*" || e.Method == "CONNECT":
		return reasonNoPath
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return reasonRequest
	}
	e.Host, e.Path = u.Hostname(), u.RequestURI()
	return ""
}

// timeOf is the time in what stands before a request; the zero time: none.
func timeOf(text string) time.Time {
	if m := common.FindStringSubmatch(text); m != nil {
		const layout = "02/Jan/2006:15:04:05"
		if m[3] == "" { // HAProxy: the local time, of which the zone is not known
			t, _ := time.ParseInLocation(layout, m[1]+m[2], zoneless)
			return t
		}
		t, _ := time.Parse(layout+" -0700", m[1]+m[2]+m[3])
		return t
	}
	all := iso.FindAllString(text, -1) // the last one: a prefix may have the time at which it was written
	if len(all) == 0 {
		return time.Time{}
	}
	return isoTime(all[len(all)-1])
}

func isoTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// statusOf is the status of the request that ends at a place of its line; 0: not known.
func statusOf(line string, end int) int {
	if m := afterwards.FindStringSubmatch(line[end:]); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	if balancer.MatchString(line) {
		const field = 8
		if words := strings.Fields(line); len(words) > field {
			n, _ := strconv.Atoi(words[field])
			return n
		}
	}
	if m := before.FindStringSubmatch(line[:end]); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}
