package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/experiment/schema"
)

const mixing = `
name: x
services: {go: {workload: go}}
vary: {n: [3]}
load:
  mix:
    - {weight: "${n}", path: "/item/{{seq}}"}
    - method: POST
      path: /items
      body_file: item.json
      auth: {basic_env: WHO}
      check: {status: [201, "200"], contains: made}
    - {path: /mine, auth: {bearer_env: TOKEN}}
  users: 1
`

func TestMix(t *testing.T) {
	e, err := file.Parse("x.yaml", []byte(mixing), nil)
	if err != nil {
		t.Fatal(err)
	}
	value, err := asJSON([]byte(mixing))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiledSchema(t).Validate(value); err != nil {
		t.Error(err)
	}
	want := []experiment.Request{
		{Weight: 3, Method: "GET", Path: "/item/{{seq}}"},
		{Weight: 1, Method: "POST", Path: "/items", BodyFile: "item.json", Auth: &experiment.Auth{Basic: "WHO"}, Check: &experiment.Check{Status: []int{200, 201}, Contains: "made"}},
		{Weight: 1, Method: "GET", Path: "/mine", Auth: &experiment.Auth{Bearer: "TOKEN"}},
	}
	if diff := cmp.Diff(want, e.Cells[0].Load.AllRequests()); diff != "" {
		t.Error(diff)
	}
	var settings file.Settings
	settings.Set("", "name", "x")
	settings.Set("", "services.go", map[string]any{"command": []string{"x"}})
	settings.Set("", "load.users", 1)
	settings.Set("", "load.mix", []map[string]any{
		{"weight": 3, "path": "/item/{{seq}}"},
		{"method": "POST", "path": "/items", "body_file": "item.json", "auth": map[string]string{"basic_env": "WHO"},
			"check": map[string]any{"status": []int{201, 200}, "contains": "made"}},
		{"path": "/mine", "auth": map[string]string{"bearer_env": "TOKEN"}},
	})
	built, err := file.Build("x", settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := file.Parse("x.yaml", []byte(built.Source), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, built.Source)
	}
	if diff := cmp.Diff(want, built.Cells[0].Load.AllRequests()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, again.Cells[0].Load.AllRequests()); diff != "" {
		t.Error(diff)
	}
}

func TestReadInputs(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"WHO": "me:secret", "TOKEN": "t0ken"}
	gather := func() (*experiment.Experiment, error) {
		e, err := file.Parse("x.yaml", []byte(mixing), nil)
		if err != nil {
			t.Fatal(err)
		}
		return e, e.ReadInputs(dir, func(name string) string { return env[name] }, schema.Read)
	}
	refused := func(want string) {
		t.Helper()
		if _, err := gather(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want in it: %s", err, want)
		}
	}
	refused("request POST /items: body_file: stat " + dir + "/item.json: no such file")
	file := filepath.Join(dir, "item.json")
	if err := os.Mkdir(file, 0o755); err != nil {
		t.Fatal(err)
	}
	refused("item.json is a folder; name a file")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{{\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := gather()
	if err != nil {
		t.Fatal(err)
	}
	all := e.Cells[0].Load.AllRequests()
	if got := all[1].Inputs; string(got.Body) != "{{\x00" || got.Authorization != "Basic bWU6c2VjcmV0" {
		t.Errorf("%+v", got)
	}
	if got := all[2].Inputs; got.Body != nil || got.Authorization != "Bearer t0ken" {
		t.Errorf("%+v", got)
	}
	env["WHO"] = "me"
	refused("request POST /items: auth: WHO is not user:password")
	env["WHO"] = "me:se\ncret"
	refused("WHO contains a control character")
	delete(env, "WHO")
	refused("the variable WHO is not set")
}

// A call of gRPC is a POST request over HTTP/2, with TLS if the load's protocol has it.
func TestCalls(t *testing.T) {
	for protocol, want := range map[string]string{"": "h2c", "protocol: http/1.1, ": "h2c", "protocol: https, ": "h2", "protocol: h2, ": "h2"} {
		e, err := file.Parse("x.yaml", []byte("name: x\nservices: {go: {workload: go}}\nload: {"+protocol+"request: {grpc: a.B/C, body: '{}', gzip: true, max_message: 8Mi, check: {status: [OK, NOT_FOUND]}}, users: 1}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		l := &e.Cells[0].Load
		if r := l.Request; r.Method != "POST" || r.Path != "/a.B/C" || l.Protocol != want {
			t.Errorf("%s: %s %s over %q, want POST /a.B/C over %s", protocol, r.Method, r.Path, l.Protocol, want)
		}
	}
}
