package doctor

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A fingerprint is of the rule and the service, whatever the figures.
func TestFingerprint(t *testing.T) {
	mild, severe := goService(8, 2), goService(8, 2)
	severe.PID = 77
	a, b := examine(watched(mild, 30, 412, 0.3))[0], examine(watched(severe, 380, 412, 0.95))[0]
	if a.Rule != ParallelismAboveLimit || a.Level == b.Level || a.Fingerprint() != b.Fingerprint() || len(a.Fingerprint()) != 12 {
		t.Errorf("got %s %v %s and %s %v %s", a.Rule, a.Level, a.Fingerprint(), b.Rule, b.Level, b.Fingerprint())
	}
	other := a
	other.Rule = LimitUsedUp
	if other.Fingerprint() == a.Fingerprint() {
		t.Error("another rule has the same fingerprint")
	}
}

// The table of the documentation has the rules, and no other.
func TestTheRulesInTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/doctor-rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| rule | finding |")
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []Rule
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| ").FindAllStringSubmatch(table, -1) {
		listed = append(listed, Rule(row[1]))
	}
	slices.Sort(listed)
	listed = slices.Compact(listed)
	if diff := cmp.Diff(Rules(), listed); diff != "" {
		t.Errorf("-rules +docs/doctor-rules.md\n%s", diff)
	}
}
