package experiment

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
)

// kind is how the text of a scalar reads as a T. Errors say what was read and
// what is wanted; schema is what an editor can check of it.
type kind[T any] interface {
	read(text string) (T, error)
	schema() *jsonschema.Schema
}

// typed is a schema of one or more types. Its keywords each look at values of
// one type: pattern at strings, minimum at numbers.
func typed(types ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Extras: map[string]any{"type": types}}
}

func pattern(expression string) *jsonschema.Schema {
	s := typed("string")
	s.Pattern = expression
	return s
}

// numberOr is a number from least to most, or the same quoted.
func numberOr(typ string, least, most float64, expression string) *jsonschema.Schema {
	s := typed(typ, "string")
	s.Minimum, s.Maximum, s.Pattern = number64(least), number64(most), expression
	return s
}

func number64(f float64) json.Number {
	return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
}

// text is any text; numbers, true and false are taken as they are written.
type text struct{}

func (text) read(s string) (string, error) { return s, nil }
func (text) schema() *jsonschema.Schema {
	return typed("string", "number", "boolean")
}

// unitName names an experiment, a service or a dependency: it becomes part of
// folders, cgroups and, on Kubernetes, of objects.
type unitName struct{}

const unitNamePattern = `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`

var unitNameSyntax = regexp.MustCompile(unitNamePattern)

func (unitName) read(s string) (string, error) {
	if !unitNameSyntax.MatchString(s) {
		return "", fmt.Errorf("%q is no name: use up to 63 lower-case letters, digits and inner hyphens", s)
	}
	return s, nil
}
func (unitName) schema() *jsonschema.Schema {
	// Plain YAML reads some names as numbers, and true as a boolean.
	s := typed("string", "integer", "boolean")
	s.Pattern = unitNamePattern
	return s
}

// varyName is what may stand in ${}. port is the platform's.
type varyName struct{}

const varyNamePattern = `^[A-Za-z_][A-Za-z0-9_]*$`

var varyNameSyntax = regexp.MustCompile(varyNamePattern)

func (varyName) read(s string) (string, error) {
	if s == "port" {
		return "", fmt.Errorf("%q is taken: ${port} is the replica's own port", s)
	}
	if !varyNameSyntax.MatchString(s) {
		return "", fmt.Errorf("%q is no name: use letters, digits and _, a letter first", s)
	}
	return s, nil
}
func (varyName) schema() *jsonschema.Schema { return pattern(varyNamePattern) }

// envName is the name of an environment variable.
type envName struct{}

const envNamePattern = `^[^=]+$`

func (envName) read(s string) (string, error) {
	if s == "" || strings.ContainsAny(s, "=\x00") {
		return "", fmt.Errorf("%q is no name of an environment variable", s)
	}
	return s, nil
}
func (envName) schema() *jsonschema.Schema { return pattern(envNamePattern) }

// headerName is a field name of HTTP (a token of RFC 9110, section 5.6.2). Those
// that frame a message are the agent's.
type headerName struct{}

const headerNamePattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"

var (
	headerNameSyntax = regexp.MustCompile(headerNamePattern)
	agentsHeaders    = []string{"content-length", "expect", "te", "trailer", "transfer-encoding", "upgrade"}
)

func (headerName) read(s string) (string, error) {
	if !headerNameSyntax.MatchString(s) {
		return "", fmt.Errorf("%q is no name of a header", s)
	}
	if slices.Contains(agentsHeaders, strings.ToLower(s)) {
		return "", fmt.Errorf("header %q is set by the agent; leave it out", s)
	}
	return s, nil
}
func (headerName) schema() *jsonschema.Schema { return pattern(headerNamePattern) }

// headerValue is one line (RFC 9110, section 5.5).
type headerValue struct{ text }

func (headerValue) read(s string) (string, error) {
	if strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", fmt.Errorf("%q: a header is one line without control characters", s)
	}
	return s, nil
}

// method is a request method.
type method struct{}

// methods are those of HTTP that make sense as load, and of WebDAV and caches.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY",
	"PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "PURGE"}

func (method) read(s string) (string, error) {
	if !slices.Contains(methods, s) {
		return "", fmt.Errorf("unknown method %q; %s", s, hint(s, "methods", methods))
	}
	return s, nil
}
func (method) schema() *jsonschema.Schema { return pattern("^(" + strings.Join(methods, "|") + ")$") }

// path is the path of a request with its query (RFC 9112, section 3.2.1). What
// stands in {{…}} is not looked at.
type path struct{}

const pathPattern = `^/([!-"$-~]|\{\{[^}]*\}\})*$`

var pathSyntax = regexp.MustCompile(pathPattern)

func (path) read(s string) (string, error) {
	if !strings.HasPrefix(s, "/") {
		return "", fmt.Errorf("%q: a path begins with /", s)
	}
	if !pathSyntax.MatchString(s) {
		return "", fmt.Errorf("%q: a path is printable ASCII without spaces and #; write others as %%20 and the like", s)
	}
	return s, nil
}
func (path) schema() *jsonschema.Schema { return pattern(pathPattern) }

// link is the URL of something that already runs.
type link struct{}

const linkPattern = `^[a-z][a-z0-9+.-]*://[^/]`

var linkSyntax = regexp.MustCompile(linkPattern)

func (link) read(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || !linkSyntax.MatchString(s) || u.Hostname() == "" {
		return "", fmt.Errorf("%q is no URL with a host, as in postgres://127.0.0.1:5432/shop", s)
	}
	return s, nil
}
func (link) schema() *jsonschema.Schema { return pattern(linkPattern) }

// protocol is how requests travel.
type protocol struct{}

// Protocols are the words of load.protocol, of which the first is usual.
var Protocols = []string{"http/1.1", "https", "h2", "h2c"}

func (protocol) read(s string) (string, error) {
	if !slices.Contains(Protocols, s) {
		return "", fmt.Errorf("unknown protocol %q; %s", s, hint(s, "protocols", Protocols))
	}
	return s, nil
}
func (protocol) schema() *jsonschema.Schema { return pattern(`^(http/1\.1|https|h2|h2c)$`) }

// status is that of an answer.
type status struct{}

const statusPattern = `^[2-5][0-9][0-9]$`

var statusSyntax = regexp.MustCompile(statusPattern)

func (status) read(s string) (int64, error) {
	if !statusSyntax.MatchString(s) {
		return 0, fmt.Errorf("%q is no status of an answer; want 200 to 599", s)
	}
	return strconv.ParseInt(s, 10, 64)
}
func (status) schema() *jsonschema.Schema { return numberOr("integer", 200, 599, statusPattern) }

// spacing is how arrivals of an open loop lie in time; true: even.
type spacing struct{}

func (spacing) read(s string) (bool, error) {
	switch s {
	case "poisson":
		return false, nil
	case "even":
		return true, nil
	}
	return false, fmt.Errorf("unknown word %q; %s", s, hint(s, "valid words", []string{"poisson", "even"}))
}
func (spacing) schema() *jsonschema.Schema { return pattern(`^(poisson|even)$`) }

// networking is which network containers have; true: the machine's.
type networking struct{}

func (networking) read(s string) (bool, error) {
	switch s {
	case "own":
		return false, nil
	case "host":
		return true, nil
	}
	return false, fmt.Errorf("unknown word %q; %s", s, hint(s, "valid words", []string{"own", "host"}))
}
func (networking) schema() *jsonschema.Schema { return pattern(`^(own|host)$`) }

// goal is what is searched; true: the breaking point.
type goal struct{}

const breakingPoint = "breaking-point"

func (goal) read(s string) (bool, error) {
	if s != breakingPoint {
		return false, fmt.Errorf("unknown word %q; %s", s, hint(s, "valid words", []string{breakingPoint}))
	}
	return true, nil
}
func (goal) schema() *jsonschema.Schema { return pattern("^" + breakingPoint + "$") }

// truth is true or false: YAML 1.2 has no yes and no on.
type truth struct{}

func (truth) read(s string) (bool, error) {
	switch s {
	case "true", "false":
		return s == "true", nil
	}
	return false, fmt.Errorf("%q is neither true nor false", s)
}
func (truth) schema() *jsonschema.Schema {
	s := typed("boolean", "string")
	s.Pattern = "^(true|false)$"
	return s
}

// port is a TCP port, or findPort for the word find.
type port struct{}

const (
	findPort    = -1
	portPattern = `^([1-9][0-9]{0,4}|find)$`
	mostPort    = 65535
)

func (port) read(s string) (int, error) {
	if s == "find" {
		return findPort, nil
	}
	if near := nearest(s, []string{"find"}); near != "" {
		return 0, fmt.Errorf("unknown word %q; did you mean %q?", s, near)
	}
	number, err := strconv.Atoi(s)
	if err != nil || !digits.MatchString(s) || number > mostPort {
		return 0, fmt.Errorf("%q is no port; write a number from 1 to %d, or find", s, mostPort)
	}
	return number, nil
}
func (port) schema() *jsonschema.Schema { return numberOr("integer", 1, mostPort, portPattern) }

// metricName is the name of a metric of Prometheus (prometheus.io/docs/concepts/data_model).
type metricName struct{}

const metricNamePattern = `^[a-zA-Z_:][a-zA-Z0-9_:]*$`

var metricNameSyntax = regexp.MustCompile(metricNamePattern)

func (metricName) read(s string) (string, error) {
	if !metricNameSyntax.MatchString(s) {
		return "", fmt.Errorf("%q is no name of a metric: use letters, digits, _ and :, no digit first", s)
	}
	return s, nil
}
func (metricName) schema() *jsonschema.Schema {
	s := typed("string", "boolean") // plain YAML reads true as a boolean
	s.Pattern = metricNamePattern
	return s
}

// workload is a sample service.
type workload struct{}

// workloads are the sample services that exist.
var workloads = []string{"go", "node", "bun", "semaphore"}

func (workload) read(s string) (string, error) {
	if !slices.Contains(workloads, s) {
		return "", fmt.Errorf("unknown workload %q; %s", s, hint(s, "workloads", workloads))
	}
	return s, nil
}
func (workload) schema() *jsonschema.Schema {
	return pattern("^(" + strings.Join(workloads, "|") + ")$")
}

// duration is a length of time as Go writes it, up to a day.
type duration struct{}

const (
	durationPattern = `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`
	longest         = 24 * time.Hour
)

var (
	durationSyntax = regexp.MustCompile(durationPattern)
	bareNumber     = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
)

func (duration) read(s string) (time.Duration, error) {
	if bareNumber.MatchString(s) {
		return 0, fmt.Errorf("duration %q has no unit; write %ss or %sms", s, s, s)
	}
	if !durationSyntax.MatchString(s) {
		return 0, fmt.Errorf("%q is no duration; write it as 500ms, 20s or 1m30s", s)
	}
	d, err := time.ParseDuration(s)
	if err != nil || d > longest {
		return 0, fmt.Errorf("duration %q is longer than a day", s)
	}
	return d, nil
}
func (duration) schema() *jsonschema.Schema { return pattern(durationPattern) }

// count is a whole number from 1.
type count struct{}

const (
	countPattern = `^[1-9][0-9]{0,8}$`
	mostCount    = 999_999_999
)

var (
	countSyntax = regexp.MustCompile(countPattern)
	digits      = regexp.MustCompile(`^[1-9][0-9]*$`)
)

func (count) read(s string) (int64, error) {
	if digits.MatchString(s) && len(s) > 9 {
		return 0, fmt.Errorf("%q is too many", s)
	}
	if !countSyntax.MatchString(s) {
		return 0, fmt.Errorf("%q is no whole number above 0", s)
	}
	return strconv.ParseInt(s, 10, 64)
}
func (count) schema() *jsonschema.Schema { return numberOr("integer", 1, mostCount, countPattern) }

// backlog is how many may wait.
type backlog struct{}

func (backlog) read(s string) (int64, error) {
	if s == "0" {
		return 0, nil
	}
	n, err := count{}.read(s)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number from 0", s)
	}
	return n, nil
}
func (backlog) schema() *jsonschema.Schema {
	return numberOr("integer", 0, mostCount, `^(0|[1-9][0-9]{0,8})$`)
}

// level is a number of users or of requests a second: not below 0.
type level struct{}

const (
	levelPattern = `^[0-9]{1,9}(\.[0-9]{1,9})?$`
	mostLevel    = 999_999_999
)

var levelSyntax = regexp.MustCompile(levelPattern)

func (level) read(s string) (float64, error) {
	if !levelSyntax.MatchString(s) {
		return 0, fmt.Errorf("%q is no number from 0 to %d, as in 50 or 2.5", s, mostLevel)
	}
	return strconv.ParseFloat(s, 64)
}
func (level) schema() *jsonschema.Schema { return numberOr("number", 0, mostLevel, levelPattern) }

// percent is above 0 and at most 100.
type percent struct{}

const percentPattern = `^[0-9]{1,3}(\.[0-9]{1,9})?$`

var percentSyntax = regexp.MustCompile(percentPattern)

func (percent) read(s string) (float64, error) {
	p, err := strconv.ParseFloat(s, 64)
	if err != nil || !percentSyntax.MatchString(s) || p <= 0 || p > 100 {
		return 0, fmt.Errorf("%q is no percentage above 0 and up to 100, as in 99.9", s)
	}
	return p, nil
}
func (percent) schema() *jsonschema.Schema {
	s := typed("number", "string")
	s.ExclusiveMinimum, s.Maximum, s.Pattern = "0", "100", percentPattern
	return s
}
