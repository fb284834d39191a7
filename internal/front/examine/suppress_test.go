package examine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
)

func TestBadSuppressions(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\n": "1: want a list, with a dash before each suppression",
		"- rule: limit-used-up\n  service: \"a\n":                "2: not YAML: ",
		"- fingerprint: 1b85adb902ec\n":                          "1: a suppression without a reason",
		"- fingerprint: a\n  reason: b\n- reason: c\n":           "3: want a fingerprint, or a rule and a service",
		"- rule: throttled\n  reason: c\n":                       "1: want a fingerprint, or a rule and a service",
		"- reason: c\n  rule: limit-used\n  service: a\n":        `2: no rule has the name "limit-used", did you mean limit-used-up`,
		"- reason: c\n  fingerprint: a\n  rule: throttled\n":     "1: a fingerprint stands for a rule and a service",
		"- reason: c\n  fingerprint: a\n\n  until: 2027-13-01\n": `4: until: "2027-13-01" is no day`,
		"- reason: c\n  finger: a\n":                             `2: unknown key "finger", did you mean fingerprint`,
		"- reason: [c]\n":                                        "1: reason: want a text",
		"- fingerprint\n":                                        "1: want keys such as fingerprint and reason",
		strings.Repeat("#", maxSuppressions+1):                   "1: the file has ",
	} {
		if _, err := parseSuppressions([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %s", text, err, want)
		}
	}
}

func TestSuppressions(t *testing.T) {
	finding := func(rule doctor.Rule, name, container string) doctor.Finding {
		return doctor.Finding{Rule: rule, Name: container + "/" + name, Process: &inspect.Process{Name: name, Container: container}}
	}
	all := []doctor.Finding{
		finding(doctor.LimitUsedUp, "java", "batch-nightly"),
		finding(doctor.Throttled, "java", "batch-nightly"),
		finding(doctor.LimitUsedUp, "java", "cart"),
		finding(doctor.NearMemoryLimit, "redis-server", "cache"),
	}
	const text = `# accepted by the team
- rule: limit-used-up
  service: batch-*
  reason: >
    it has no deadline
- fingerprint: FINGERPRINT
  reason: the cache is meant to be full
  until: 2026-12-31
- rule: throttled
  service: batch-nightly/java
  reason: ended
  until: 2026-11-20
- rule: killed-for-memory
  service: "*"
  reason: nothing is killed
`
	parsed, err := parseSuppressions([]byte(strings.ReplaceAll(text, "FINGERPRINT", all[3].Fingerprint())))
	if err != nil {
		t.Fatal(err)
	}
	s := &suppressions{file: "a.yaml", all: parsed, now: time.Date(2026, 11, 28, 12, 0, 0, 0, time.Local)}
	kept, notes := s.apply(all)
	var names []string
	for _, f := range kept {
		names = append(names, string(f.Rule)+" "+f.Name)
	}
	want := []string{"throttled batch-nightly/java", "limit-used-up cart/java"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	want = []string{
		"2 findings suppressed by a.yaml.",
		"a.yaml:9 ended with 2026-11-20 and suppresses nothing (ended).",
		"a.yaml:13 matches no finding (nothing is killed).",
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if parsed[0].reason != "it has no deadline" {
		t.Errorf("a block's text: %q", parsed[0].reason)
	}
	last := suppressions{all: parsed[1:2], now: time.Date(2026, 12, 31, 23, 59, 0, 0, time.Local)}
	if kept, _ := last.apply(all); len(kept) != 3 {
		t.Error("an entry does not hold on its last day")
	}
	if kept, notes := (*suppressions)(nil).apply(all); len(kept) != 4 || notes != nil {
		t.Errorf("without a file: %d findings, %q", len(kept), notes)
	}
}
