package inputs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const withMix = `name: shop # mix: a.jsonl
services:
  go: {command: [./server], port: 8080}
load:
  mix: "a.jsonl" # a.jsonl
  rate: 10
measure: {duration: 5s}
`

func TestMixOfAnExperimentIsAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "shop.yaml")
	requests := `{"url": "http://h/a?x=${y}", "weight": 3, "headers": {"Authorization": "Bearer s3cret-1"}}
{"path": "/b", "body": "{}", "method": "POST"}
{"url": "http://other/c"}
`
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(requests), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	e, err := Parse(path, []byte(withMix), []string{"load.rate=20"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	mix := e.Cells[0].Load.Mix
	if len(mix) != 2 || mix[0].Path != "/a?x=${y}" || mix[0].Weight != 3 || mix[1].Method != "POST" || e.Cells[0].Load.Rate.Value != 20 {
		t.Errorf("%+v", mix)
	}
	if want := "load.mix a.jsonl: 3 requests read, 2 used, those to h; 1 may change data.\nNot sent: dropped: 1 to other.\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if strings.Contains(e.Source, "s3cret") || !strings.Contains(e.Source, "(redacted)") {
		t.Errorf("the source has a secret:\n%s", e.Source)
	}
	for text, want := range map[string]string{
		strings.ReplaceAll(withMix, "a.jsonl\" #", "no.har\" #"): "load.mix: no.har: open " + filepath.Join(dir, "no.har") + ": no such file or directory",
		strings.Replace(withMix, "\"a.jsonl\"", "shop.yaml", 1):  "load.mix: shop.yaml: it is neither",
		strings.Replace(withMix, "  rate: 10", "  rats: 10", 1):  "shop.yaml:6:3",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(path, []byte(text), nil, &out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, want %q", text, err, want)
		}
	}
}

// A file of --set is relative to the working folder, and its secrets are hidden.
func TestMixOfASettingIsAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	requests := `{"url": "http://h/a?x=${y}&b=<", "weight": 3, "headers": {"Authorization": "Bearer s3cret-1"}}
{"path": "/b", "body": "{\"a\": 1}", "method": "POST"}
`
	if err := os.WriteFile("b.jsonl", []byte(requests), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	text := strings.Replace(withMix, `  mix: "a.jsonl" # a.jsonl`, "  mix: [{path: /x, weight: 2}]", 1)
	e, err := Parse("/nowhere/shop.yaml", []byte(text), []string{"load.mix=b.jsonl", "load.rate=20"}, &out)
	if err != nil {
		t.Fatal(err)
	}
	mix := e.Cells[0].Load.Mix
	if len(mix) != 2 || mix[0].Path != "/a?x=${y}&b=<" || mix[0].Weight != 3 || mix[0].Headers["Authorization"] != "Bearer s3cret-1" || mix[1].Body != `{"a": 1}` {
		t.Errorf("%+v", mix)
	}
	if shown := strings.Join(e.Sets, " "); strings.Contains(shown, "s3cret") || !strings.Contains(shown, "(redacted)") {
		t.Errorf("the settings have a secret: %s", shown)
	}
	if want := "load.mix b.jsonl: 2 requests read, 2 used, those to h; 1 may change data.\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if _, err := Parse("shop.yaml", []byte(text), []string{"load.mix=no.har"}, &out); err == nil || err.Error() != "--set load.mix=no.har: open no.har: no such file or directory" {
		t.Error(err)
	}
}

// The lines of a session stay in their order, though none needs a value.
func TestSessionsOfFilesKeepTheirOrder(t *testing.T) {
	dir := t.TempDir()
	lines := `{"path": "/in"}
{"path": "/list"}
{"path": "/list"}
`
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{"": "/in*1 /list*2", "load.session=true": "/in*1 /list*1 /list*1"} {
		var sets []string
		if set != "" {
			sets = append(sets, set)
		}
		e, err := Parse(filepath.Join(dir, "shop.yaml"), []byte(withMix), sets, new(strings.Builder))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range e.Cells[0].Load.Mix {
			got = append(got, fmt.Sprintf("%s*%d", r.Path, r.Weight))
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("%q: %s, want %s", set, all, want)
		}
	}
}
