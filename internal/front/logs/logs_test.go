package logs

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/accesslog"
)

func sample() string {
	var b strings.Builder
	for i := range 90 {
		fmt.Fprintf(&b, "192.0.2.7 - - [29/Nov/2026:10:%02d:%02d +0000] \"GET /users/%d HTTP/1.1\" 200 5 \"-\" \"-\"\n", i/60, i%60, i%3)
		fmt.Fprintf(&b, "192.0.2.7 - - [29/Nov/2026:11:%02d:%02d +0000] \"POST /orders HTTP/1.1\" 201 5 \"-\" \"-\"\n", i/60, i%60)
	}
	return b.String()
}

func TestALogBecomesAFileOfRequests(t *testing.T) {
	dir := t.TempDir()
	plain, packed, out := filepath.Join(dir, "access.log"), filepath.Join(dir, "access.log-20261129"), filepath.Join(dir, "mix.jsonl")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte(sample()))
	w.Close()
	if os.WriteFile(plain, []byte(sample()), 0o600) != nil || os.WriteFile(packed, z.Bytes(), 0o600) != nil {
		t.Fatal("no file")
	}
	var texts []string
	for _, o := range []Options{{File: plain, Paths: 2, Out: out}, {File: packed, Paths: 2}, {File: "-", Paths: 2}} {
		var shown bytes.Buffer
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		if err := o.Run(strings.NewReader(sample()), &shown); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, shown.String())
	}
	if next := "\nAt their recorded times:\n  millicore load --replay "; !strings.HasPrefix(texts[0], texts[2]+"\nRequests: ") || !strings.HasPrefix(texts[1], texts[2]+next) || !strings.Contains(texts[0], next) {
		t.Errorf("%q", texts)
	}
	flat := strings.Join(strings.Fields(texts[1]), " ")
	for _, want := range []string{"90 requests of 1 route can be repeated; 90 of 180 lines are left out, 90 POST, whose body is not in the log.",
		"180 from 2026-11-29 10:00:00 to 2026-11-29 11:01:29 UTC", "100% 90 3 GET /users/{id}", "2026-11-29 11:00 90 ███"} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not in\n%s", want, texts[1])
		}
	}
	text, err := os.ReadFile(out)
	if err != nil || string(text) != "{\"name\":\"GET /users/{id}\",\"weight\":1,\"path\":\"/users/0\"}\n{\"name\":\"GET /users/{id}\",\"weight\":1,\"path\":\"/users/1\"}\n" {
		t.Errorf("%s, %v", text, err)
	}
	var shown bytes.Buffer
	if err := (&Options{File: plain, JSON: true}).Run(nil, &shown); err != nil {
		t.Fatal(err)
	}
	var of accesslog.Traffic
	if err := json.Unmarshal(shown.Bytes(), &of); err != nil || of.Used != 90 || of.Arrivals.Requests != 180 {
		t.Errorf("%v, %+v", err, of)
	}
}

func TestLogsThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	there, empty, wrong := filepath.Join(dir, "there"), filepath.Join(dir, "empty.log"), filepath.Join(dir, "wrong")
	for _, name := range []string{there, empty, wrong} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(wrong, []byte("\x1f\x8b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		"--paths 0: want 1 or more": {File: there},
		"the file is there already": {File: empty, Paths: 1, Out: there},
		"none.log does not exist":   {File: "none.log", Paths: 1},
		"is a folder; name a file":  {File: dir, Paths: 1},
		"it is empty":               {File: empty, Paths: 1, Out: filepath.Join(dir, "new")},
		"wrong: unexpected EOF":     {File: wrong, Paths: 1},
	} {
		err := o.Check()
		if err == nil {
			err = o.Run(nil, &bytes.Buffer{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("a log without requests left a file")
	}
}

// The table of hours has no gaps, and ends with the last day.
func TestHours(t *testing.T) {
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC) }
	a := &accesslog.Arrivals{Hours: []accesslog.Hour{{Start: at(27, 5), Requests: 90}, {Start: at(29, 10), Requests: 4}, {Start: at(29, 13), Requests: 2}}}
	cols := hours(a)
	if n := len(cols[0].Cells); n != 24 || cols[0].Cells[0] != "2026-11-28 14:00" || cols[0].Head != "hour (UTC)" {
		t.Errorf("%d hours from %v", n, cols[0])
	}
	if got := strings.Join(cols[1].Cells[20:], " "); got != "4 0 0 2" || cols[2].Cells[20] != strings.Repeat("█", 40) {
		t.Errorf("%q, %q", got, cols[2].Cells[20])
	}
	a.Hours, a.ZoneUnknown = a.Hours[1:], true
	if cols := hours(a); len(cols[0].Cells) != 4 || cols[0].Head != "hour (of the log)" {
		t.Errorf("%v", cols)
	}
}
