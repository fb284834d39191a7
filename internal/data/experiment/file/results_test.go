package file_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A page of verdicts about other people's publications names the commit whose rules they
// follow, and the day: scripts/reproduce.sh writes both. It has a row for each claim; the
// reports are elsewhere.
func TestThePageOfResultsNamesItsCommitAndDay(t *testing.T) {
	mark := regexp.MustCompile(`on \d+ [A-Z][a-z]+ 20\d\d, at\s+commit ([0-9a-f]{7})\b`)
	if head, _, _ := strings.Cut(read(t, "docs/results.md"), "\n## "); !mark.MatchString(head) {
		t.Errorf("docs/results.md does not say when, and at which commit, it was written: %s", head)
	}
	for _, program := range []string{"bash", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is missing")
		}
	}
	dir := t.TempDir()
	script := read(t, "scripts/reproduce.sh")
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, words ...string) string {
		t.Helper()
		command := exec.Command(name, words...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, words, err, out)
		}
		return string(out)
	}
	write("scripts/reproduce.sh", script)
	write("bin/millicore", "#!/bin/sh\ncat report.md\n")
	write("report.md", `**the headline**

### Published claims: 1 inconclusive

| claim | claimed | measured | verdict | why |
| --- | --- | --- | --- | --- |
| Go fails first | 7 against 9 | p99 7 ms (go procs=1) over 9 ms (bun): 0.78 times (range 0.6–1.2) | inconclusive | two trials; the host was busy |

| service | rate |
| --- | --- |
`)
	write(".gitignore", "bin\nruns\n")
	write("docs/results.md", "old\n")
	list := regexp.MustCompile(`(?s)published=\((.*?)\)`).FindStringSubmatch(script)
	for _, name := range strings.Fields(list[1]) {
		write("runs/reproduce/"+name+"/trials.ndjson", `{"outcome":"finished"}`+"\n")
	}
	run("git", "init", "-q")
	run("git", "add", ".")
	run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "all")
	run("git", "tag", "v1")
	commit := strings.TrimSpace(run("git", "rev-parse", "--short=7", "HEAD"))
	run("bash", "scripts/reproduce.sh")
	page, err := os.ReadFile(filepath.Join(dir, "docs", "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	if found := mark.FindSubmatch(page); found == nil || string(found[1]) != commit {
		t.Errorf("the page does not name the day and commit %s:\n%s", commit, page)
	}
	row := "| Go fails first | 7 against 9 | p99 7 ms over 9 ms: 0.78 times (range 0.6–1.2) | inconclusive | two trials |\n"
	if n := strings.Count(string(page), row); n != len(strings.Fields(list[1])) || strings.Contains(string(page), "| service |") {
		t.Errorf("the page has %d rows of claims:\n%s", n, page)
	}
	if report, err := os.ReadFile(filepath.Join(dir, "bin", "results", "semaphore.md")); err != nil || !strings.Contains(string(report), "the headline") {
		t.Errorf("the full report: %v\n%s", err, report)
	}
}

// A ratio of two cells needs four trials of each, and a restart between them. From fewer,
// the report gives a range, and no verdict.
func TestThePageOfResultsHasNoVerdictFromARange(t *testing.T) {
	counts := regexp.MustCompile(`(\d+) (not reproduced|reproduced|inconclusive)`)
	stated, seen := map[string]int{}, map[string]int{}
	check := func() {
		for _, verdict := range []string{"reproduced", "not reproduced", "inconclusive"} {
			if stated[verdict] != seen[verdict] {
				t.Errorf("%d claims are said to be %s, %d rows are", stated[verdict], verdict, seen[verdict])
			}
		}
		clear(stated)
		clear(seen)
	}
	for line := range strings.Lines(read(t, "docs/results.md")) {
		if strings.HasPrefix(line, "Published claims: ") {
			check()
			for _, m := range counts.FindAllStringSubmatch(line, -1) {
				stated[m[2]] = int(m[1][0] - '0')
			}
		}
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 5 || !counts.MatchString("1 "+cells[3]) {
			continue
		}
		seen[cells[3]]++
		if cells[3] != "inconclusive" && strings.Contains(cells[2], " times (range ") && strings.Contains(cells[2], " over ") {
			t.Errorf("a verdict from a range: %s", line)
		}
	}
	check()
}
