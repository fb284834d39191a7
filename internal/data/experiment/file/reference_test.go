package file_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/experiment/schema"
)

const withReferences = `name: shop
services:
  go:
    command: [./server]
    env:
      TOKEN: {from_env: CI_TOKEN}
      ODD: {from_file: odd.txt}
      CLUSTER: {secret: shop-db/password}
      LITERAL_KEY: Mark3r-literal
      LEVEL: info
    dependencies:
      - {name: db, command: [db], env: {POSTGRES_PASSWORD: {from_env: DB}}}
load: {request: {path: /}, users: 1}
`

// env is Millicore's own environment in these tests.
var env = map[string]string{"CI_TOKEN": "Mark3r-token", "DB": "Mark3r-db"}

func referring(t *testing.T) (*experiment.Experiment, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "odd.txt"), []byte("Mark3r ${port} $${x\nsecond\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := file.Parse("shop.yaml", []byte(withReferences), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ReadInputs(dir, func(name string) string { return env[name] }, schema.Read); err != nil {
		t.Fatal(err)
	}
	return e, dir
}

func TestReferencesAreReadFromElsewhere(t *testing.T) {
	e, _ := referring(t)
	got := e.Cells[0].Service.Environment()
	odd, err := experiment.Expand(got.Values["ODD"], map[string]string{"port": "80"})
	if want := "Mark3r ${port} $${x\nsecond"; odd != want || err != nil {
		t.Errorf("a file's value was changed: %q, %v", odd, err)
	}
	delete(got.Values, "ODD")
	want := experiment.Environment{Values: map[string]string{"TOKEN": "Mark3r-token", "LITERAL_KEY": "Mark3r-literal", "LEVEL": "info"},
		Hidden: []string{"LITERAL_KEY", "ODD", "TOKEN"}, Secrets: map[string]string{"CLUSTER": "shop-db/password"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := e.Cells[0].Service.Dependencies[0].Environment().Values["POSTGRES_PASSWORD"]; got != "Mark3r-db" {
		t.Errorf("%q", got)
	}
	if all := e.Secrets(); !slices.Contains(all, "Mark3r-token") || !slices.Contains(all, "Mark3r-db") {
		t.Errorf("%q", all)
	}
}

func TestRecordKeepsReferencesAndHashes(t *testing.T) {
	e, _ := referring(t)
	key := secret.NewKey()
	e.Seal(key)
	data, err := json.Marshal(e.Shown())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "Mark3r") {
		t.Errorf("%s", data)
	}
	var kept experiment.Experiment
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	s := kept.Cells[0].Service
	from := map[string]experiment.Reference{"TOKEN": {FromEnv: "CI_TOKEN"}, "ODD": {FromFile: "odd.txt"}, "CLUSTER": {Secret: "shop-db/password"}}
	if d := cmp.Diff(from, s.EnvFrom); d != "" {
		t.Error(d)
	}
	if len(s.EnvHashes) != 3 || s.EnvHashes["TOKEN"] != key.Hash("TOKEN", "Mark3r-token") || s.EnvHashes["LITERAL_KEY"] != key.Hash("LITERAL_KEY", "Mark3r-literal") {
		t.Errorf("%v", s.EnvHashes)
	}
	if got := e.ChangedSecret(&kept); got != "" {
		t.Errorf("%s changed", got)
	}
	kept.Cells[0].Service.Dependencies[0].EnvHashes["POSTGRES_PASSWORD"] = key.Hash("POSTGRES_PASSWORD", "other")
	if got := e.ChangedSecret(&kept); got != "services.go.dependencies.db.env.POSTGRES_PASSWORD" {
		t.Errorf("%q changed", got)
	}
}

func TestInputsCarryReferences(t *testing.T) {
	e, _ := referring(t)
	e.Seal(secret.NewKey())
	data, err := json.Marshal(e.InputSet())
	if err != nil {
		t.Fatal(err)
	}
	var in experiment.InputSet
	if err := json.Unmarshal(data, &in); err != nil {
		t.Fatal(err)
	}
	other, err := file.Parse("shop.yaml", []byte(withReferences), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.SetInputs(in); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(e, other); d != "" {
		t.Error(d)
	}
	delete(in.Variables, "from_env DB")
	if err := other.SetInputs(in); err == nil || !strings.Contains(err.Error(), "services.go.dependencies.db.env.POSTGRES_PASSWORD: there is no value of from_env DB") {
		t.Errorf("%v", err)
	}
}

func TestReferencesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"empty": 0, "large": 200 << 10} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "zero"), []byte("Mark3r\x00x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{
		"from_env: NOWHERE":        "services.go.env: TOKEN: from_env: the variable NOWHERE is not set",
		"from_file: nowhere":       "no such file",
		"from_file: .":             "is not a regular file",
		"from_file: empty":         "is empty",
		"from_file: large":         "more than 128 KiB",
		"from_file: zero":          "zero byte",
		"from_file: /dev/zero":     "is not a regular file",
		"from_env: A, secret: b/c": "exclude one another",
		"from_envs: A":             `did you mean "from_env"`,
		"secret: name":             "is not NAME/KEY of a Secret",
		`from_env: "${x}"`:         "is not replaced here",
	} {
		e, err := file.Parse("shop.yaml", []byte(strings.Replace(minimal, "@", "{TOKEN: {"+from+"}}", 1)), nil)
		if err == nil {
			err = e.ReadInputs(dir, func(string) string { return "" }, schema.Read)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), marker) {
			t.Errorf("%s: %v; want %q", from, err, want)
		}
	}
}

func TestSecretsOfAClusterNeedOne(t *testing.T) {
	e, _ := referring(t)
	if err := e.NeedsNoCluster(); err == nil || err.Error() != "services.go.env.CLUSTER: a Secret needs --on kubernetes; use from_env or from_file" {
		t.Errorf("%v", err)
	}
}

func TestReferenceCanBeSet(t *testing.T) {
	e, err := file.Parse("shop.yaml", []byte(strings.Replace(minimal, "@", "{TOKEN: Mark3r-1}", 1)), []string{"services.go.env.TOKEN={from_env: CI_TOKEN}"})
	if err != nil {
		t.Fatal(err)
	}
	s := e.Cells[0].Service
	if len(s.Env) != 0 || s.EnvFrom["TOKEN"].FromEnv != "CI_TOKEN" || len(s.Unset) != 0 {
		t.Errorf("%+v", s)
	}
	if strings.Contains(e.Source, marker) {
		t.Error(e.Source)
	}
}

func TestSavedFileReadsItsSecretsFromTheEnvironment(t *testing.T) {
	var s file.Settings
	s.Set("", "name", "try")
	s.Set("", "services.x", map[string]any{"command": []string{"x"}, "env": map[string]any{"TOKEN": "Mark3r-2", "N": "1"}})
	s.Set("", "load", map[string]any{"request": map[string]any{"path": "/", "headers": map[string]any{"Accept": "text/html"}}, "users": 1})
	e, err := file.Build("try", s, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, names := file.Saved(e)
	if !slices.Equal(names, []string{"TOKEN"}) || strings.Contains(text, marker) {
		t.Errorf("%v\n%s", names, text)
	}
	again, err := file.Parse("saved.yaml", []byte(text), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := fmt.Sprint(again.Cells[0].Service.EnvFrom); got != "map[TOKEN:from_env TOKEN]" || again.Cells[0].Service.Env["N"] != "1" {
		t.Errorf("%s\n%s", got, text)
	}
}

// A value whose name only looks like that of a secret is shown if the file states so.
func TestPublicValuesAreShown(t *testing.T) {
	const text = `name: shop
vary: {by: [price, null]}
services:
  go:
    command: [./server]
    env: {SORT_KEY: {public: "${by}-${port}"}, CACHE_KEY: {public: "${by}"}, TOKEN: {public: ""}, API_KEY: Mark3r-1}
    dependencies:
      - {name: db, command: [db], env: {PARTITION_KEY: {public: id}}}
load: {request: {path: /}, users: 1}
`
	e, err := file.Parse("shop.yaml", []byte(strings.Replace(text, "${by}-", "x-", 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Seal(secret.NewKey())
	shown := e.Shown()
	one, other := &shown.Cells[0].Service, &shown.Cells[1].Service
	want := map[string]string{"SORT_KEY": "x-${port}", "CACHE_KEY": "price", "TOKEN": "", "API_KEY": secret.Mask}
	if d := cmp.Diff(want, one.Env); d != "" {
		t.Error(d)
	}
	if !slices.Equal(other.Unset, []string{"CACHE_KEY"}) || one.Dependencies[0].Env["PARTITION_KEY"] != "id" {
		t.Errorf("%+v", other)
	}
	if got := one.Environment(); !slices.Equal(e.Cells[0].Service.Environment().Hidden, []string{"API_KEY"}) || len(got.Secrets) != 0 {
		t.Errorf("%+v", got)
	}
	if len(one.EnvHashes) != 1 || !slices.Equal(e.Secrets(), []string{"Mark3r-1"}) {
		t.Errorf("hashes %v, secrets %q", one.EnvHashes, e.Secrets())
	}
	if label := shown.Cells[0].Label(); !strings.Contains(label, "by=price") {
		t.Errorf("the label is %q", label)
	}
	if strings.Contains(e.Source, marker) || !strings.Contains(e.Source, `{public: "${by}"}`) {
		t.Error(e.Source)
	}
	again, err := file.Parse("shop.yaml", []byte(text), []string{"services.go.env.SORT_KEY={public: set}", "services.go.env.API_KEY.public=x"})
	if err == nil || !strings.Contains(err.Error(), "API_KEY") {
		t.Errorf("a value and a map: %v, %+v", err, again)
	}
	for from, want := range map[string]string{"public: a, from_env: B": "exclude one another", "public: [a]": "expected a single value", `public: "${nowhere}"`: "unknown name ${nowhere}"} {
		if _, err := file.Parse("shop.yaml", []byte(strings.Replace(minimal, "@", "{TOKEN: {"+from+"}}", 1)), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", from, err, want)
		}
	}
}
