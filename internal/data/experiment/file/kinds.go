package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/quantity"
	"github.com/millicore/millicore/internal/data/experiment/spelling"
	"github.com/millicore/millicore/internal/data/signals"
)

// kind is the syntax of a single value. read returns its value, or an error that
// quotes the text and states what is valid. The other fields are for the schema: an
// editor checks less than read does.
type kind struct {
	read    func(text string) (any, error)
	types   []string // of JSON Schema
	pattern string   // of a text; empty: any
	least   *float64
	most    *float64
	above   *float64 // least, itself excluded
	words   []string // of an enumeration
}

// matching is a text that matches an expression. The error of any other text ends
// with complaint.
func matching(expression, complaint string, types ...string) *kind {
	syntax := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) }) // most starts read no file
	return readBy(func(s string) (any, error) {
		if !syntax().MatchString(s) {
			return nil, fmt.Errorf("%q %s", s, complaint)
		}
		return s, nil
	}, expression, types...)
}

// readBy has its own function, and an expression for the schema.
func readBy(read func(string) (any, error), pattern string, types ...string) *kind {
	return &kind{read: read, pattern: pattern, types: types}
}

// oneOf is one of several words. noun is the name of such a word in errors.
func oneOf(noun string, words []string) *kind {
	plural := noun + "s"
	if noun == "" {
		noun, plural = "word", "valid words"
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = regexp.QuoteMeta(w)
	}
	return &kind{types: []string{"string"}, pattern: "^(" + strings.Join(quoted, "|") + ")$", words: words, read: func(s string) (any, error) {
		if !slices.Contains(words, s) {
			return nil, fmt.Errorf("unknown %s %q; %s", noun, s, spelling.Hint(s, plural, words))
		}
		return s, nil
	}}
}

// unless checks a text before it is read.
func (k *kind) unless(check func(s string) error) *kind {
	read := k.read
	k.read = func(s string) (any, error) {
		if err := check(s); err != nil {
			return nil, err
		}
		return read(s)
	}
	return k
}

// then converts a text of the kind.
func (k *kind) then(convert func(s string) (any, error)) *kind {
	read := k.read
	k.read = func(s string) (any, error) {
		if _, err := read(s); err != nil {
			return nil, err
		}
		return convert(s)
	}
	return k
}

// within gives the bounds of a number to the schema. read checks them by itself.
func (k *kind) within(least, most float64) *kind {
	k.least, k.most = &least, &most
	return k
}

func whole(s string) (any, error)  { return strconv.ParseInt(s, 10, 64) }
func number(s string) (any, error) { return strconv.ParseFloat(s, 64) }

func number64(f float64) json.Number {
	return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
}

const (
	findPort  = -1 // the word find as a port
	mostPort  = 65535
	longest   = 24 * time.Hour
	mostCount = 999_999_999
	mostLevel = 999_999_999
	mostBound = 999_999_999_999_999
)

var (
	bareNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	digits     = regexp.MustCompile(`^[1-9][0-9]*$`)

	portSyntax = regexp.MustCompile(`^([1-9][0-9]{0,4}|find)$`)

	// agentsHeaders frame a message, and so the agent sets them.
	agentsHeaders = []string{"content-length", "expect", "te", "trailer", "transfer-encoding", "upgrade"}
)

const (
	unitNameSyntax = `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`
	countFrom0     = `^(0|[1-9][0-9]{0,8})$`
)

// kinds are all kinds, by the name in a field's tag. The types of a kind include
// number or boolean if YAML reads some unquoted texts of the kind as such.
var kinds = map[string]*kind{
	"text": {types: []string{"string", "number", "boolean"}, read: func(s string) (any, error) { return s, nil }},
	// true or false: YAML 1.2 has no yes and no on.
	"truth": truth(true),
	// The field is the negation of its key.
	"inverse": truth(false),

	// An experiment's, a service's or a dependency's name becomes part of folders,
	// cgroups and, on Kubernetes, of objects.
	"unitName": matching(unitNameSyntax,
		"is not a valid name: use up to 63 lower-case letters, digits and inner hyphens", "string", "integer", "boolean"),
	// What may stand in ${}. port is the platform's.
	"varyName": matching(`^[A-Za-z_][A-Za-z0-9_]*$`, "is not a valid name: use letters, digits and _, and no digit first", "string").
		unless(func(s string) error {
			if s == "port" {
				return fmt.Errorf("%q is taken: ${port} is the replica's own port", s)
			}
			return nil
		}),
	"envName": matching(`^[^=]+$`, "is not a valid name of an environment variable", "string").
		unless(func(s string) error {
			if strings.ContainsRune(s, 0) {
				return fmt.Errorf("%q is not a valid name of an environment variable", s)
			}
			return nil
		}),
	// A key of a Secret of Kubernetes.
	"secretKey": matching(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/[A-Za-z0-9._-]{1,253}$`,
		"is not NAME/KEY of a Secret, as in database/password", "string"),
	// A metric of Prometheus (prometheus.io/docs/concepts/data_model).
	"metricName": matching(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`,
		"is not a valid name of a metric: use letters, digits, _ and :, and no digit first", "string", "boolean"),
	// A user of this machine or of an image: useradd(8) and systemd accept such names.
	"account": matching(`^([A-Za-z_][A-Za-z0-9_.-]{0,31}|[0-9]{1,9}(:[0-9]{1,9})?)$`,
		"is not a user; write a name, UID or UID:GID, or caller", "string", "integer").
		unless(func(s string) error {
			if s == "dynamic" {
				return errors.New("dynamic was removed; write the number of a user, which needs no entry on this machine, as in 61184")
			}
			return nil
		}),
	"claimMetric": oneOf("metric", experiment.ClaimMetrics),

	// Of HTTP. A field name is a token (RFC 9110, section 5.6.2), and its value one
	// line (section 5.5).
	"headerName": matching("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", "is not a valid name of a header", "string").
		then(func(s string) (any, error) {
			if slices.Contains(agentsHeaders, strings.ToLower(s)) {
				return nil, fmt.Errorf("header %q is set by the agent; leave it out", s)
			}
			return s, nil
		}),
	"headerValue": {types: []string{"string", "number", "boolean"}, read: func(s string) (any, error) {
		if strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			return nil, fmt.Errorf("%q: a header is one line without control characters", s)
		}
		return s, nil
	}},
	// A value that a session captures. The other placeholders have their names.
	"valueName": matching("^[A-Za-z][A-Za-z0-9_]{0,63}$", "is not the name of a value: use letters, digits and _, a letter first", "string").
		unless(func(s string) error {
			if slices.Contains([]string{"session", "session_id", "seq", "uuid", "rand", "urlquery"}, s) {
				return fmt.Errorf("{{%s}} is a placeholder of its own; choose another name", s)
			}
			return nil
		}),
	// A request's path with its query (RFC 9112, section 3.2.1). What stands in
	// {{…}} is not checked.
	"path": readBy(experiment.Path, experiment.PathSyntax.String(), "string"),
	// That of a load may be what an answer gave, such as its Location.
	"sentPath": readBy(func(s string) (any, error) {
		if strings.HasPrefix(s, "{{") {
			_, err := experiment.Path("/" + s)
			return s, err
		}
		return experiment.Path(s)
	}, `^(/|\{\{[^}]*\}\})`+strings.TrimPrefix(experiment.PathSyntax.String(), "^/"), "string"),
	"link":     readBy(experiment.Link, experiment.LinkSyntax.String(), "string"),
	"protocol": oneOf("protocol", experiment.Protocols),
	"address":  accepted(`^[0-9A-Fa-f:.]+(%.+)?$`, experiment.NoAddress, "is not an IP address, as in 127.0.0.2", "string"),
	"status":   readBy(func(s string) (any, error) { return signals.StatusNamed(s) }, "^([2-5][0-9][0-9]|[A-Z_]+)$", "integer", "string").within(200, 599),
	"port":     readBy(readPort, portSyntax.String(), "integer", "string").within(1, mostPort),

	// Numbers, and durations as in Go.
	"duration": matching(`^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`,
		"is not a duration; write it as 500ms, 20s or 1m30s", "string").then(readDuration).unless(func(s string) error {
		if bareNumber.MatchString(s) {
			return fmt.Errorf("duration %q has no unit; write %ss or %sms", s, s, s)
		}
		return nil
	}),
	"count": matching(`^[1-9][0-9]{0,8}$`, "is not a whole number above 0", "integer", "string").
		within(1, mostCount).then(whole).unless(func(s string) error {
		if digits.MatchString(s) && len(s) > 9 {
			return fmt.Errorf("%q is too many", s)
		}
		return nil
	}),
	"backlog": matching(countFrom0, "is not a whole number from 0", "integer", "string").within(0, mostCount).then(whole),
	"seconds": matching(countFrom0, "is not a whole number of seconds, as in 60", "integer", "string").within(0, mostCount).then(whole),
	// Of users, or of requests a second.
	"level": matching(`^[0-9]{1,9}(\.[0-9]{1,9})?$`,
		fmt.Sprintf("is not a number from 0 to %d, as in 50 or 2.5", mostLevel), "number", "string").within(0, mostLevel).then(number),
	"percent": percent(),
	// A percentage that may exceed 100: a request is not a limit.
	"share": readBy(quantity.Share, quantity.ShareSyntax.String(), "string"),
	// A bound of a metric.
	"bound": matching(`^[0-9]{1,15}(\.[0-9]{1,9})?$`, "is not a number from 0 up, as in 1.5", "number", "string").
		within(0, mostBound).then(number).unless(func(s string) error {
		if _, err := time.ParseDuration(s); err == nil && s != "0" {
			return fmt.Errorf("%q: a bound is a bare number in the unit of the metric; latencies are in milliseconds", s)
		}
		return nil
	}),

	// Limits.
	"cpu":     readBy(quantity.CPU, quantity.Syntax.String(), "number", "string").within(0, quantity.MostCPUs).unless(quantity.Given),
	"memory":  readBy(quantity.Memory, quantity.Syntax.String(), "number", "string").within(quantity.LeastMemory, quantity.MostMemory).unless(quantity.Given),
	"cpuList": matching(`^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$`, "is not a list of CPUs; write it as 0, 0-1 or 0-1,4", "integer", "string").within(0, 9999).then(quantity.CPUs),

	// Kubernetes' own names and words. Kubernetes' own code decides what is valid;
	// the patterns are what an editor can check.
	"namespace": accepted(unitNameSyntax, content.IsDNS1123Label,
		"is not a valid namespace: use up to 63 lower-case letters, digits and inner hyphens", "string", "integer", "boolean"),
	"objectName": accepted(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`, content.IsDNS1123Subdomain,
		"is not a valid name of an object: use lower-case letters, digits, and inner hyphens and dots", "string", "number", "boolean"),
	"labelKey":    labelKey(),
	"ownLabelKey": labelKey().unless(refuseOwnLabel),
	"labelValue": accepted(`^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$`, content.IsLabelValue,
		"is not a valid value of a label: use up to 63 letters, digits and inner -, _ and dots", "string", "number", "boolean"),
	// Whoever pulls an image checks its syntax.
	"imageName": matching(`^[!-~]+$`, "is not a valid name of an image", "string"),
	"volume": readBy(func(s string) (any, error) {
		_, err := experiment.SplitVolume(s)
		return s, err
	}, "^([^:]+:)?/[^:]+(:[a-zA-Z,]+)?$", "string"),
	"ownImage": oneOf("workload", []string{"node", "bun"}),
}

// Valid returns what is wrong with a text as a value of a kind, such as path, headerName or
// headerValue, for those who make requests from other files.
func Valid(kind, text string) error {
	_, err := kindNamed(kind).read(text)
	return err
}

func truth(means bool) *kind {
	return matching("^(true|false)$", "is neither true nor false", "boolean", "string").then(func(s string) (any, error) { return (s == "true") == means, nil })
}

func percent() *kind {
	k := readBy(quantity.Percent, quantity.PercentSyntax.String(), "number", "string")
	none, all := 0.0, 100.0
	k.above, k.most = &none, &all
	return k
}

// accepted is a text that one of Kubernetes' own checks accepts.
func accepted(pattern string, check func(string) []string, complaint string, types ...string) *kind {
	read := func(s string) (any, error) {
		if said := check(s); len(said) > 0 {
			return nil, fmt.Errorf("%q %s", s, complaint)
		}
		return s, nil
	}
	return readBy(read, pattern, types...)
}

// labelKey is the key of a label, an annotation or a taint: a name, perhaps
// after a domain and a slash.
func labelKey() *kind {
	return accepted(`^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`, content.IsLabelKey,
		"is not a valid key: use up to 63 letters, digits and inner -, _ and dots, after a domain and a slash where it has one, as in example.com/team",
		"string", "number", "boolean")
}

// refuseOwnLabel refuses the keys that Millicore finds its objects by
// (internal/kubernetes/kube).
func refuseOwnLabel(s string) error {
	if strings.HasPrefix(s, "millicore/") || s == "app.kubernetes.io/managed-by" {
		return fmt.Errorf("the label %q is reserved: Millicore finds its objects by it", s)
	}
	return nil
}

// readPort reads a TCP port, or findPort for the word find.
func readPort(s string) (any, error) {
	if s == "find" {
		return findPort, nil
	}
	if near := spelling.Nearest(s, []string{"find"}); near != "" {
		return nil, fmt.Errorf("unknown word %q; did you mean %q?", s, near)
	}
	number, err := strconv.Atoi(s)
	if err != nil || !digits.MatchString(s) || number > mostPort {
		return nil, fmt.Errorf("%q is not a port; write a number from 1 to %d, or find", s, mostPort)
	}
	return number, nil
}

func readDuration(s string) (any, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d > longest {
		return nil, fmt.Errorf("duration %q is longer than a day", s)
	}
	return d, nil
}
