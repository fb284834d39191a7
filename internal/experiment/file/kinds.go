package file

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

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/spelling"
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

// syntax is what the text of a scalar must match.
type syntax struct{ *regexp.Regexp }

func syntaxOf(expression string) syntax { return syntax{regexp.MustCompile(expression)} }

func (x syntax) schema(types ...string) *jsonschema.Schema {
	s := typed(types...)
	s.Pattern = x.String()
	return s
}

// numberOr is a number from least to most, or the same quoted.
func numberOr(typ string, least, most float64, quoted syntax) *jsonschema.Schema {
	s := quoted.schema(typ, "string")
	s.Minimum, s.Maximum = number64(least), number64(most)
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

var unitNameSyntax = syntaxOf(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func (unitName) read(s string) (string, error) {
	if !unitNameSyntax.MatchString(s) {
		return "", fmt.Errorf("%q is no name: use up to 63 lower-case letters, digits and inner hyphens", s)
	}
	return s, nil
}
func (unitName) schema() *jsonschema.Schema {
	// Plain YAML reads some names as numbers, and true as a boolean.
	return unitNameSyntax.schema("string", "integer", "boolean")
}

// varyName is what may stand in ${}. port is the platform's.
type varyName struct{}

var varyNameSyntax = syntaxOf(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (varyName) read(s string) (string, error) {
	if s == "port" {
		return "", fmt.Errorf("%q is taken: ${port} is the replica's own port", s)
	}
	if !varyNameSyntax.MatchString(s) {
		return "", fmt.Errorf("%q is no name: use letters, digits and _, a letter first", s)
	}
	return s, nil
}
func (varyName) schema() *jsonschema.Schema { return varyNameSyntax.schema("string") }

// envName is the name of an environment variable.
type envName struct{}

var envNameSyntax = syntaxOf(`^[^=]+$`)

func (envName) read(s string) (string, error) {
	if s == "" || strings.ContainsAny(s, "=\x00") {
		return "", fmt.Errorf("%q is no name of an environment variable", s)
	}
	return s, nil
}
func (envName) schema() *jsonschema.Schema { return envNameSyntax.schema("string") }

// headerName is a field name of HTTP (a token of RFC 9110, section 5.6.2). Those
// that frame a message are the agent's.
type headerName struct{}

var (
	headerNameSyntax = syntaxOf("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
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
func (headerName) schema() *jsonschema.Schema { return headerNameSyntax.schema("string") }

// headerValue is one line (RFC 9110, section 5.5).
type headerValue struct{ text }

func (headerValue) read(s string) (string, error) {
	if strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", fmt.Errorf("%q: a header is one line without control characters", s)
	}
	return s, nil
}

// path is the path of a request with its query (RFC 9112, section 3.2.1). What
// stands in {{…}} is not looked at.
type path struct{}

var pathSyntax = syntaxOf(`^/([!-"$-~]|\{\{[^}]*\}\})*$`)

func (path) read(s string) (string, error) {
	if !strings.HasPrefix(s, "/") {
		return "", fmt.Errorf("%q: a path begins with /", s)
	}
	if !pathSyntax.MatchString(s) {
		return "", fmt.Errorf("%q: a path is printable ASCII without spaces and #; write others as %%20 and the like", s)
	}
	return s, nil
}
func (path) schema() *jsonschema.Schema { return pathSyntax.schema("string") }

// link is the URL of something that already runs.
type link struct{}

var linkSyntax = syntaxOf(`^[a-z][a-z0-9+.-]*://[^/]`)

func (link) read(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || !linkSyntax.MatchString(s) || u.Hostname() == "" {
		return "", fmt.Errorf("%q is no URL with a host, as in postgres://127.0.0.1:5432/shop", s)
	}
	return s, nil
}
func (link) schema() *jsonschema.Schema { return linkSyntax.schema("string") }

// protocol is how requests travel.
type protocol struct{}

func (protocol) read(s string) (string, error) {
	if !slices.Contains(experiment.Protocols, s) {
		return "", fmt.Errorf("unknown protocol %q; %s", s, spelling.Hint(s, "protocols", experiment.Protocols))
	}
	return s, nil
}
func (protocol) schema() *jsonschema.Schema {
	return syntaxOf(`^(http/1\.1|https|h2|h2c)$`).schema("string")
}

// status is that of an answer.
type status struct{}

var statusSyntax = syntaxOf(`^[2-5][0-9][0-9]$`)

func (status) read(s string) (int64, error) {
	if !statusSyntax.MatchString(s) {
		return 0, fmt.Errorf("%q is no status of an answer; want 200 to 599", s)
	}
	return strconv.ParseInt(s, 10, 64)
}
func (status) schema() *jsonschema.Schema { return numberOr("integer", 200, 599, statusSyntax) }

// word is one of those in the field's enum tag, which slot.enum checks.
type word struct{}

func (word) read(s string) (string, error) { return s, nil }
func (word) schema() *jsonschema.Schema    { return typed("string") }

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
	return syntaxOf("^(true|false)$").schema("boolean", "string")
}

// port is a TCP port, or findPort for the word find.
type port struct{}

const (
	findPort = -1
	mostPort = 65535
)

var portSyntax = syntaxOf(`^([1-9][0-9]{0,4}|find)$`)

func (port) read(s string) (int, error) {
	if s == "find" {
		return findPort, nil
	}
	if near := spelling.Nearest(s, []string{"find"}); near != "" {
		return 0, fmt.Errorf("unknown word %q; did you mean %q?", s, near)
	}
	number, err := strconv.Atoi(s)
	if err != nil || !digits.MatchString(s) || number > mostPort {
		return 0, fmt.Errorf("%q is no port; write a number from 1 to %d, or find", s, mostPort)
	}
	return number, nil
}
func (port) schema() *jsonschema.Schema { return numberOr("integer", 1, mostPort, portSyntax) }

// metricName is the name of a metric of Prometheus (prometheus.io/docs/concepts/data_model).
type metricName struct{}

var metricNameSyntax = syntaxOf(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

func (metricName) read(s string) (string, error) {
	if !metricNameSyntax.MatchString(s) {
		return "", fmt.Errorf("%q is no name of a metric: use letters, digits, _ and :, no digit first", s)
	}
	return s, nil
}
func (metricName) schema() *jsonschema.Schema {
	return metricNameSyntax.schema("string", "boolean") // plain YAML reads true as a boolean
}

// duration is a length of time as Go writes it, up to a day.
type duration struct{}

const longest = 24 * time.Hour

var (
	durationSyntax = syntaxOf(`^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`)
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
func (duration) schema() *jsonschema.Schema { return durationSyntax.schema("string") }

// count is a whole number from 1.
type count struct{}

const mostCount = 999_999_999

var (
	countSyntax = syntaxOf(`^[1-9][0-9]{0,8}$`)
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
func (count) schema() *jsonschema.Schema { return numberOr("integer", 1, mostCount, countSyntax) }

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
	return numberOr("integer", 0, mostCount, syntaxOf(`^(0|[1-9][0-9]{0,8})$`))
}

// level is a number of users or of requests a second: not below 0.
type level struct{}

const mostLevel = 999_999_999

var levelSyntax = syntaxOf(`^[0-9]{1,9}(\.[0-9]{1,9})?$`)

func (level) read(s string) (float64, error) {
	if !levelSyntax.MatchString(s) {
		return 0, fmt.Errorf("%q is no number from 0 to %d, as in 50 or 2.5", s, mostLevel)
	}
	return strconv.ParseFloat(s, 64)
}
func (level) schema() *jsonschema.Schema { return numberOr("number", 0, mostLevel, levelSyntax) }

// percent is above 0 and at most 100.
type percent struct{}

var percentSyntax = syntaxOf(`^[0-9]{1,3}(\.[0-9]{1,9})?$`)

func (percent) read(s string) (float64, error) {
	p, err := strconv.ParseFloat(s, 64)
	if err != nil || !percentSyntax.MatchString(s) || p <= 0 || p > 100 {
		return 0, fmt.Errorf("%q is no percentage above 0 and up to 100, as in 99.9", s)
	}
	return p, nil
}
func (percent) schema() *jsonschema.Schema {
	s := percentSyntax.schema("number", "string")
	s.ExclusiveMinimum, s.Maximum = "0", "100"
	return s
}
