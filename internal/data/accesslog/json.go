package accesslog

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The names under which servers log a field, the first that is there counts. A dot leads into an
// object: Caddy has request.method, Google's load balancers httpRequest.requestMethod.
var (
	methodNames = []string{"request.method", "RequestMethod", "request_method", "httpRequest.requestMethod", "http.request.method", "method", ":method", "verb"}
	pathNames   = []string{"request.uri", "RequestPath", "request_uri", "httpRequest.requestUrl", "url.original", "x-envoy-original-path", "x-envoy-origin-path", "path", ":path", "uri", "url"}
	hostNames   = []string{"request.host", "RequestHost", "http_host", "authority", ":authority", "host", "vhost", "server_name"}
	statusNames = []string{"status", "DownstreamStatus", "OriginStatus", "response_code", "httpRequest.status", "http.response.status_code", "status_code"}
	timeNames   = []string{"ts", "StartUTC", "start_time", "msec", "time_iso8601", "timestamp", "@timestamp", "time", "time_local"}
)

// parseJSON reads an object of a line.
func parseJSON(line string) (e Entry, why string) {
	var all map[string]any
	if err := json.Unmarshal([]byte(escapeBytes(line)), &all); err != nil {
		return e, reasonUnknown
	}
	if inner, is := all["log"].(string); is && all["stream"] != nil { // Docker's file
		return parse(strings.TrimSpace(inner))
	}
	e.Method = text(all, methodNames)
	target := text(all, pathNames)
	if e.Method == "" || target == "" {
		found := requestLine.FindStringSubmatch(text(all, []string{"request", "httpRequest", "message"})) // nginx: "$request"
		if found == nil {
			return e, reasonUnknown
		}
		e.Method, target = found[1], found[2]
	}
	if why := e.target(target); why != "" {
		return e, why
	}
	if !requestLine.MatchString(e.Method + " /") {
		return e, reasonRequest
	}
	if host := text(all, hostNames); host != "" {
		e.Host = hostname(host)
	}
	e.Status, _ = strconv.Atoi(text(all, statusNames))
	e.Time = timeIn(all)
	if seconds, err := strconv.ParseFloat(text(all, tookNames(all)), 64); err == nil && seconds > 0 && seconds < longestTook {
		e.Took = time.Duration(seconds * 1e9)
	}
	return e, ""
}

// escapeBytes writes the bytes of a line that are not UTF-8 as a URL has them: nginx logs them
// as they are, and the reader of JSON would lose them.
func escapeBytes(line string) string {
	if utf8.ValidString(line) {
		return line
	}
	var b strings.Builder
	for i, c := range line {
		if _, size := utf8.DecodeRuneInString(line[i:]); c == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", line[i])
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// longestTook is in seconds.
const longestTook = 1e6

// tookNames are the names of durations in seconds, of servers whose time is that of the end:
// nginx, and Caddy, which has the request in an object. Envoy and Traefik log the begin.
func tookNames(all map[string]any) []string {
	switch {
	case find(all, []string{"StartUTC", "start_time"}) != nil:
		return nil
	case find(all, []string{"request.method"}) != nil:
		return []string{"duration"}
	}
	return []string{"request_time"}
}

// find is the value of the first of several names; nil: none is there.
func find(all map[string]any, names []string) any {
	for _, name := range names {
		if v := all[name]; v != nil { // also one with dots in its name
			return v
		}
		at, rest, nested := strings.Cut(name, ".")
		for within := all; nested; at, rest, nested = strings.Cut(rest, ".") {
			object, ok := within[at].(map[string]any)
			if !ok {
				break
			}
			if v := object[rest]; v != nil {
				return v
			}
			within = object
		}
	}
	return nil
}

// text is a word or a number as it is written; "": none is there.
func text(all map[string]any, names []string) string {
	switch v := find(all, names).(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// timeIn is the time of an entry, as a text or as seconds or milliseconds since 1970.
func timeIn(all map[string]any) time.Time {
	for _, name := range timeNames {
		switch v := find(all, []string{name}).(type) {
		case string:
			if t := isoTime(v); !t.IsZero() {
				return t
			}
			if t := timeOf("[" + v + "]"); !t.IsZero() {
				return t
			}
			if seconds, err := strconv.ParseFloat(v, 64); err == nil {
				return since1970(seconds)
			}
		case float64:
			return since1970(v)
		}
	}
	return time.Time{}
}

func since1970(seconds float64) time.Time {
	const milliseconds = 1e11 // such a number of seconds is in the year 5138
	if seconds > milliseconds {
		seconds /= 1000
	}
	if seconds <= 0 || seconds > milliseconds {
		return time.Time{}
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)).UTC()
}
