package examine

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/spelling"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/identity"
)

// suppression is one entry of a file of suppressions:
//
//   - fingerprint: 1b85adb902ec
//     reason: the nightly job may be throttled
//   - rule: limit-used-up
//     service: shop/batch-*
//     reason: it has no deadline
//     until: 2027-03-31
type suppression struct {
	line                 int
	fingerprint, reason  string
	rule, service, until string
	end                  time.Time // zero: it does not end
	used                 int
}

// maxSuppressions bounds the file, in bytes.
const maxSuppressions = 1 << 20

// parseSuppressions reads a file of suppressions. Errors begin with the number of the line.
func parseSuppressions(data []byte) ([]suppression, error) {
	if len(data) > maxSuppressions {
		return nil, fmt.Errorf("1: the file has %d bytes; the maximum is %d", len(data), maxSuppressions)
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		at, message := 1, err.Error()
		var known yaml.Error
		if errors.As(err, &known) {
			message = known.GetMessage()
			at = lineOf(known.GetToken().Position.Line)
		}
		return nil, fmt.Errorf("%d: not YAML: %s", at, message)
	}
	var all []suppression
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType {
			continue
		}
		list, ok := doc.Body.(*ast.SequenceNode)
		if !ok {
			return nil, fmt.Errorf("%d: want a list, with a dash before each suppression", lineAt(doc.Body))
		}
		for _, entry := range list.Values {
			one, err := suppressionOf(entry)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

func lineAt(n ast.Node) int { return lineOf(n.GetToken().Position.Line) }

func lineOf(n int) int { return max(n, 1) }

// suppressionOf reads and checks an entry.
func suppressionOf(n ast.Node) (s suppression, err error) {
	s.line = lineAt(n)
	fail := func(at int, format string, args ...any) (suppression, error) {
		return suppression{}, fmt.Errorf("%d: "+format, append([]any{at}, args...)...)
	}
	entries, ok := n.(ast.MapNode)
	if !ok {
		return fail(s.line, "want keys such as fingerprint and reason")
	}
	keys := map[string]*string{"fingerprint": &s.fingerprint, "rule": &s.rule, "service": &s.service, "reason": &s.reason, "until": &s.until}
	lines := map[string]int{}
	for e := entries.MapRange(); e.Next(); {
		name, at := e.Key().GetToken().Value, lineAt(e.Key())
		to := keys[name]
		if to == nil {
			return fail(at, "unknown key %q%s; the keys are fingerprint, rule, service, reason and until", name, meant(name, []string{"fingerprint", "rule", "service", "reason", "until"}))
		}
		value, ok := e.Value().(ast.ScalarNode)
		if !ok {
			return fail(at, "%s: want a text", name)
		}
		*to, lines[name] = strings.TrimSpace(value.GetToken().Value), at
		if block, ok := value.(*ast.LiteralNode); ok {
			*to = strings.TrimSpace(block.Value.GetToken().Value)
		}
		if len(lines) == 1 {
			s.line = at
		}
	}
	switch {
	case s.reason == "":
		return fail(s.line, "a suppression without a reason")
	case s.fingerprint == "" && (s.rule == "" || s.service == ""):
		return fail(s.line, "want a fingerprint, or a rule and a service; millicore doctor --json prints them")
	case s.fingerprint != "" && s.rule+s.service != "":
		return fail(s.line, "a fingerprint stands for a rule and a service; leave out one or the other")
	case s.rule != "" && !slices.Contains(doctor.Rules(), doctor.Rule(s.rule)):
		var names []string
		for _, rule := range doctor.Rules() {
			names = append(names, string(rule))
		}
		return fail(lines["rule"], "no rule has the name %q%s", s.rule, meant(s.rule, names))
	}
	if s.until == "" {
		return s, nil
	}
	day, err := time.ParseInLocation(time.DateOnly, s.until, time.Local)
	if err != nil {
		return fail(lines["until"], "until: %q is no day such as 2027-03-31", s.until)
	}
	s.end = day.AddDate(0, 0, 1)
	return s, nil
}

func meant(word string, known []string) string {
	if near := spelling.Nearest(word, known); near != "" {
		return fmt.Sprintf(", did you mean %s", near)
	}
	return ""
}

// matches reports whether an entry suppresses a finding of a rule about a service, which has
// two names: the one in its fingerprint, and the one that is shown. A * stands for any text.
func (s *suppression) matches(fingerprint string, rule doctor.Rule, names ...string) bool {
	if s.fingerprint != "" {
		return s.fingerprint == fingerprint
	}
	pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(s.service), `\*`, ".*") + "$")
	return doctor.Rule(s.rule) == rule && slices.ContainsFunc(names, pattern.MatchString)
}

// suppressions are the entries of a file at a time.
type suppressions struct {
	file string
	all  []suppression
	now  time.Time
}

// covers reports whether an entry that has not ended suppresses a finding.
func (s *suppressions) covers(fingerprint string, rule doctor.Rule, names ...string) (covered bool) {
	for i := range s.all {
		one := &s.all[i]
		if !one.ended(s.now) && one.matches(fingerprint, rule, names...) {
			one.used++
			covered = true
		}
	}
	return covered
}

func (s *suppression) ended(now time.Time) bool { return !s.end.IsZero() && !now.Before(s.end) }

// apply returns the findings that are not suppressed, and what is to be said: how many are
// suppressed, and which entries have ended or match nothing.
func (s *suppressions) apply(findings []doctor.Finding) (kept []doctor.Finding, notes []string) {
	if s == nil {
		return findings, nil
	}
	for _, f := range findings {
		if !s.covers(f.Fingerprint(), f.Rule, identity.Service(f.Process), f.Name) {
			kept = append(kept, f)
		}
	}
	if n := len(findings) - len(kept); n > 0 {
		notes = append(notes, fmt.Sprintf("%s suppressed by %s.", display.Counted(int64(n), "finding"), display.Plain(s.file)))
	}
	for _, one := range s.all {
		at := fmt.Sprintf("%s:%d", display.Plain(s.file), one.line)
		switch {
		case one.ended(s.now):
			notes = append(notes, fmt.Sprintf("%s ended with %s and suppresses nothing (%s).", at, one.until, display.Plain(one.reason)))
		case one.used == 0:
			notes = append(notes, fmt.Sprintf("%s matches no finding (%s).", at, display.Plain(one.reason)))
		}
	}
	return kept, notes
}
