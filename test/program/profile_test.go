package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/profile"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/test/testkit"
)

// profiledService is the sample Go service, which serves its profiles.
func profiledService(load string) string {
	return `
name: profiled
services:
  go: {command: [` + filepath.Join(bin, "millicore-go") + `, --host, 127.0.0.1, --port, "${port}"], env: {PPROF: "1"}, ready: /healthz}
limits: {cpu: 500m}
profile: true
` + load
}

// said are the messages about profiles on standard error.
type said struct {
	text    string
	without bool // there is none, and a reason
}

func newSaid(errs string) said {
	_, why, without := strings.Cut(errs, ": no profile: ")
	return said{errs, without && strings.TrimSpace(why) != ""}
}

// profiled runs an experiment, and returns its record and its messages.
func profiled(t *testing.T, yaml string) (string, said) {
	t.Helper()
	needCgroups(t)
	dir, c := command(t, yaml)
	var errs bytes.Buffer
	c.Stderr = &errs
	err := c.Run()
	nothingLeft(t, c.Process.Pid)
	testkit.Answered(t, err, errs.String())
	return dir, newSaid(errs.String())
}

// profileIsAtTheBreakingPoint checks that a search has a profile at its breaking point, or
// a reason why there is none: on a busy machine a search may have no result.
func profileIsAtTheBreakingPoint(t *testing.T, dir string, said said) {
	t.Helper()
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Trials, func(x record.Trial) bool { return x.Outcome == record.Profiled })
	if said.without != (i < 0) {
		t.Fatalf("profiled: %v, but the messages are:\n%s", i >= 0, said.text)
	}
	profileCountsNowhere(t, dir)
	if said.without {
		if left, _ := os.ReadDir(filepath.Join(dir, record.ProfilesDir)); len(left) > 0 {
			t.Errorf("%v in the record, but the message is that there is none", left)
		}
		t.Logf("no profile, and it is said why: %s\n%s", recordSays(t, dir).Cells[0].Breaking.Reason, said.text)
		return
	}
	profileStands(t, dir)
	cell := recordSays(t, dir).Cells[0]
	if cell.Breaking.Load() == nil { // then it is the last load of the search
		return
	}
	var due, seconds float64
	for f, err := range r.Frames() {
		if err != nil {
			t.Fatal(err)
		}
		if f.Trial == r.Trials[i].Trial && f.Client != nil && f.Phase == signals.Measure {
			due, seconds = due+float64(f.Client.Intended), seconds+f.Seconds()
		}
	}
	// Arrivals are random. With 100 or more of them, a deviation of a quarter is not chance.
	if want := *cell.Breaking.Load(); seconds == 0 || due/seconds < 0.75*want || due/seconds > 1.25*want {
		t.Errorf("profiled under %.0f requests in %.1f s, want %.0f requests/s, the breaking point", due, seconds, want)
	}
}

// profileStands checks the files in the record, and their figures in the summary and in
// every form of the report.
func profileStands(t *testing.T, dir string) {
	t.Helper()
	if info, err := os.Stat(filepath.Join(dir, record.ProfileDir(0), profile.CPUFile)); err != nil || info.Size() == 0 {
		t.Errorf("%s: %v, want a profile", profile.CPUFile, err)
	}
	var p profile.Profile
	text, err := json.Marshal(recordSays(t, dir).Cells[0].Profile)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p.Runtime != "go" || len(p.Top) == 0 || p.BusySeconds <= 0 || p.Seconds <= 0 {
		t.Fatalf("%v: the summary's profile is %.300s", err, text)
	}
	if d := cmp.Diff([]string{profile.CPUFile}, p.Files); d != "" {
		t.Error(d)
	}
	hottest := p.Top[0].Name
	if !strings.Contains(hottest, "rime") { // of isPrime, which uses most of the CPU
		t.Errorf("most CPU time is in %s, want the search for primes", hottest)
	}
	for _, form := range []string{"", "--markdown"} {
		out, _ := exec.Command(filepath.Join(bin, "millicore"), slices.DeleteFunc([]string{"report", dir, form}, func(s string) bool { return s == "" })...).Output()
		if !strings.Contains(string(out), record.ProfileDir(0)+"/"+profile.CPUFile) {
			t.Errorf("report %s does not name the profile:\n%s", form, out)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, record.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{profile.CPUFile, hottest[strings.LastIndexAny(hottest, "./")+1:]} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("report.html does not have %q", want)
		}
	}
}

// profileCountsNowhere removes the trial for profiles from the record. The results must
// stay the same, apart from the profile.
func profileCountsNowhere(t *testing.T, dir string) {
	t.Helper()
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	extra := map[int]bool{}
	for _, x := range r.Trials {
		if x.Outcome == record.Profiled {
			extra[x.Trial] = true
		}
	}
	bare := filepath.Join(t.TempDir(), "bare")
	if err := os.CopyFS(bare, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(bare, record.ProfilesDir)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(bare, "*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	removed := 0
	for _, file := range files {
		removed += without(t, file, extra)
	}
	if removed == 0 && len(extra) > 0 {
		t.Error("the trial for profiles left no line in the record")
	}
	want, got := recordSays(t, bare), recordSays(t, dir)
	for i := range got.Cells {
		if want.Cells[i].Profile != nil {
			t.Error("there is a profile without its files")
		}
		got.Cells[i].Profile = nil
		if n := len(got.Cells[i].PerTrial); n != 1 || got.Cells[i].Trials != 1 {
			t.Errorf("%d trials, %d of them with figures: want the planned one", got.Cells[i].Trials, n)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the trial for profiles changes the results (-without +with):\n%s", d)
	}
}

// without removes the lines of the given trials from a file, and counts them.
func without(t *testing.T, file string, trials map[int]bool) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept []byte
	removed := 0
	for line := range bytes.Lines(text) {
		var of struct {
			Trial int `json:"trial"`
		}
		if err := json.Unmarshal(line, &of); err != nil {
			t.Fatal(fmt.Errorf("%s: %w in %s", file, err, line))
		}
		if trials[of.Trial] {
			removed++
			continue
		}
		kept = append(kept, line...)
	}
	if err := os.WriteFile(file, kept, 0o644); err != nil {
		t.Fatal(err)
	}
	return removed
}

// recordSays are the results of a record, computed from its frames.
func recordSays(t *testing.T, dir string) *summary.Summary {
	t.Helper()
	data, err := results.Open(record.Own, dir)
	if err != nil {
		t.Fatal(err)
	}
	return data.Summary
}
