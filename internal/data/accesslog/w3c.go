package accesslog

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// reasonFields is why a line behind #Fields has no request, such as half of the last one.
const reasonFields = "without the fields that #Fields names"

// directive is a line of the W3C Extended Log File Format that is no entry
// (https://www.w3.org/TR/WD-logfile.html).
var directive = regexp.MustCompile(`^#(Version|Fields|Software|Start-Date|End-Date|Date|Remark):`)

// w3c reads the format of IIS and of CloudFront, whose lines have the fields that a line before
// them names.
type w3c struct{ fields []string }

// directive takes a line that is no entry; false: it is another line.
func (w *w3c) directive(line string) bool {
	line = strings.TrimPrefix(line, "\ufeff")
	if fields, found := strings.CutPrefix(line, "#Fields:"); found {
		w.fields = strings.Fields(fields)
	}
	return directive.MatchString(line)
}

// parse reads an entry.
func (w *w3c) parse(line string) (e Entry, why string) {
	values := strings.Fields(line)
	if len(values) != len(w.fields) {
		return e, reasonFields
	}
	first := func(names ...string) string {
		for _, name := range names {
			for i, field := range w.fields {
				if strings.EqualFold(field, name) && values[i] != "-" {
					return strings.Trim(values[i], `"`)
				}
			}
		}
		return ""
	}
	at, err := time.Parse("2006-01-02 15:04:05", first("date")+" "+first("time"))
	target := first("cs-uri-stem", "cs-uri")
	if query := first("cs-uri-query"); query != "" && !strings.Contains(target, "?") {
		target += "?" + query
	}
	if e.Method = first("cs-method"); err != nil || e.Method == "" || target == "" {
		return e, reasonFields
	}
	if why := e.target(target); why != "" {
		return e, why
	}
	if !requestLine.MatchString(e.Method + " /") {
		return e, reasonRequest
	}
	if host := first("x-host-header", "cs-host", "cs(Host)"); host != "" {
		e.Host = hostname(host)
	}
	e.Time = at
	e.Status, _ = strconv.Atoi(first("sc-status"))
	e.Took = w.took(first("time-taken"))
	return e, ""
}

// took is the duration of a request, whose time is that of its end. IIS has whole milliseconds,
// and all others seconds.
func (w *w3c) took(text string) time.Duration {
	n, err := strconv.ParseFloat(text, 64)
	unit := time.Second
	if !strings.Contains(text, ".") && !strings.Contains(strings.Join(w.fields, " "), "x-edge-location") {
		unit = time.Millisecond
	}
	if err != nil || !(n > 0) || n*unit.Seconds() >= longestTook {
		return 0
	}
	return time.Duration(n * float64(unit))
}

// hostname is the name of a host without its port: "::1" of "[::1]:80".
func hostname(host string) string {
	if strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "[") {
		return host
	}
	return (&url.URL{Host: host}).Hostname()
}
