package file_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment/file"
)

// marker begins every secret in the tests: nothing that is shown has it.
const marker = "Mark3r"

const withSecrets = `# the shop
name: shop
services:
  go:
    command: [env, API_TOKEN=Mark3r-command, ./server, --db, "postgres://app:Mark3r-url@127.0.0.1/shop", --password, Mark3r-flag]
    env:
      TOKEN: Mark3r-plain # rotate it
      QUOTED_SECRET: "Mark3r \"quoted\" ü"
      SINGLE_PWD: 'Mark3r ''single'
      DATABASE_URL: postgres://app:Mark3r-env@db/shop
      PORT_URL: http://127.0.0.1:${port}/
      LOG_LEVEL: debug
    dependencies:
      - name: db
        command: [db]
        env: {POSTGRES_PASSWORD: Mark3r-dependency}
      - name: old
        url: mongodb://u:Mark3r-old@127.0.0.1/x
    actions:
      - at: 1s
        request: {path: "/reload?token=Mark3r-action", headers: {X-Api-Key: Mark3r-actionkey}}
vary: {procs: [1, 2]}
load:
  mix:
    - {path: /a, headers: {Authorization: Bearer Mark3r-bearer, Cookie: "s=Mark3r-cookie", X-Procs: "${procs}"}}
    - {path: "/b?api_key=Mark3r-query", method: POST, body: "user=a&password=Mark3r-body"}
  users: 5
`

func TestNothingShownHasASecret(t *testing.T) {
	sets := []string{"services.go.env.SET_TOKEN=Mark3r-set", `services.go.env.OTHER=fine`, `load.mix.1.headers={Cookie: Mark3r-setcookie}`}
	e, err := file.Parse("shop.yaml", []byte(withSecrets), sets)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(e.Shown())
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.Index(string(data), marker); i >= 0 {
		t.Errorf("a secret is shown: %s", data[max(0, i-100):min(len(data), i+30)])
	}
	for i := range e.Cells {
		if label := e.Cells[i].Label(); strings.Contains(label, marker) {
			t.Error(label)
		}
	}
	if !strings.Contains(e.Source, "# the shop") || !strings.Contains(e.Source, "LOG_LEVEL: debug") {
		t.Errorf("the source lost more than its secrets:\n%s", e.Source)
	}
	if want := "services.go.env.OTHER=fine"; !slices.Contains(e.Sets, want) {
		t.Errorf("%q", e.Sets)
	}
}

func TestWhatRunsHasItsSecrets(t *testing.T) {
	e, err := file.Parse("shop.yaml", []byte(withSecrets), nil)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(e)
	e.Shown()
	if after, _ := json.Marshal(e); string(after) != string(before) {
		t.Error("Shown changed the experiment")
	}
	s, l := &e.Cells[1].Service, &e.Cells[1].Load
	for want, got := range map[string]string{
		"Mark3r-plain": s.Env["TOKEN"], "Mark3r \"quoted\" ü": s.Env["QUOTED_SECRET"], "Mark3r 'single": s.Env["SINGLE_PWD"],
		"Mark3r-flag": s.Command[6], "Mark3r-dependency": s.Dependencies[0].Env["POSTGRES_PASSWORD"], "mongodb://u:Mark3r-old@127.0.0.1/x": s.Dependencies[1].URL,
		"Bearer Mark3r-bearer": l.Mix[0].Headers["Authorization"], "/b?api_key=Mark3r-query": l.Mix[1].Path,
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	given := e.AsGiven()
	if given.Source != withSecrets || given.Sets != nil {
		t.Error("the text as it was given is lost")
	}
	var found int
	for _, v := range e.Secrets() {
		if strings.Contains(v, marker) {
			found++
		}
	}
	if found < 15 {
		t.Errorf("%d secrets to scrub: %q", found, e.Secrets())
	}
}

// A value that stands elsewhere too cannot be replaced in the text: the source is then
// the tree.
func TestSourceOfAValueThatIsACommonWord(t *testing.T) {
	e, err := file.Parse("shop.yaml", []byte(`name: go
services: {go: {command: [./go], env: {PASSWORD: go}}}
load: {request: {path: /go}, users: 1}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`PASSWORD: "?go`).MatchString(e.Source) || !strings.Contains(e.Source, `PASSWORD: "(redacted)"`) {
		t.Errorf("%s", e.Source)
	}
	if !strings.Contains(e.Source, "path: /go") {
		t.Errorf("more than the value is gone:\n%s", e.Source)
	}
}

// So it is of a value in several lines, whose lines are indented in the text.
func TestSourceOfABlock(t *testing.T) {
	e, err := file.Parse("shop.yaml", []byte(strings.Replace(minimal, "@", "\n      SSH_KEY: |\n        Mark3r-1\n        Mark3r-2\n      LEVEL: 1", 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Cells[0].Service.Env["SSH_KEY"]; got != "Mark3r-1\nMark3r-2\n" {
		t.Errorf("%q", got)
	}
	if strings.Contains(e.Source, marker) || !strings.Contains(e.Source, "LEVEL: 1") {
		t.Errorf("%s", e.Source)
	}
}

func TestSourceWithoutSecretsStays(t *testing.T) {
	text := "# note\n" + strings.ReplaceAll(minimal, "@", "{}")
	e, err := file.Parse("shop.yaml", []byte(text), []string{"limits.cpu=1"})
	if err != nil {
		t.Fatal(err)
	}
	if e.Source != text || e.Given != nil || !slices.Equal(e.Sets, []string{"limits.cpu=1"}) {
		t.Errorf("%s", e.Source)
	}
}

const minimal = `name: shop
services:
  go:
    command: [./server]
    env: @
load: {request: {path: /}, users: 1}
`

func TestErrorsHaveNoSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		env  string
		sets []string
	}{
		"a name without an end":  {env: `{TOKEN: "Mark3r${x"}`},
		"an unknown name":        {env: `{TOKEN: "Mark3r-${nowhere}"}`},
		"a list":                 {env: `{TOKEN: [Mark3r-listed-value]}`},
		"--set of a list":        {env: "{}", sets: []string{"services.go.env.TOKEN=[Mark3r-listed-value]"}},
		"--set that is no YAML":  {env: "{}", sets: []string{"services.go.env.TOKEN={Mark3r-x"}},
		"--set of a wrong key":   {env: "{}", sets: []string{"services.go.envs.TOKEN=Mark3r-x1234567890"}},
		"--set of the whole env": {env: "{}", sets: []string{"services.go.env={TOKEN: 'Mark3r${x', A: 1}"}},
		"a URL":                  {env: "{}", sets: []string{`services.go.dependencies=[{name: db, url: "postgres://u:Mark3r-1@"}]`}},
		"a command":              {env: "{}", sets: []string{`services.go.command=[x, "TOKEN=Mark3r${x"]`}},
		"a header":               {env: "{}", sets: []string{`load.request.headers={Cookie: "Mark3r\tx\x01y"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := file.Parse("shop.yaml", []byte(strings.Replace(minimal, "@", c.env, 1)), c.sets)
			if err == nil {
				t.Fatal("no error")
			}
			if strings.Contains(err.Error(), marker) {
				t.Error(err)
			}
		})
	}
}

// A record's text cannot be run as it is: its values are gone.
func TestHiddenValuesAreRefused(t *testing.T) {
	e, err := file.Parse("shop.yaml", []byte(withSecrets), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Parse("again.yaml", []byte(e.Source), nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"services.go.env.TOKEN: this value was hidden", "load.mix[0].headers.Cookie: ", "services.go.command[1]: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%s", want, err)
		}
	}
}

// The labels of cells show the values of vary.
func TestSecretsAreNotVaried(t *testing.T) {
	const text = "name: shop\nservices: {go: {command: [./server#], env: {@}}}\nvary: {x: [a, '%']}\nload: {request: {path: /}, users: 1}\n"
	for _, c := range []struct{ env, words, value, want string }{
		{"", ", --password, '${x}'", "b", "services.go.command[2]: it is a secret by its name, and the labels of cells show ${x}"},
		{"", ", 'SSH_KEY=${x}'", "b", "services.go.command[1]: it is a secret by its name"},
		{"", ", '--url=postgres://u:${x}@db/'", "b", "services.go.command[1]: it is a secret by its name"},
		{"", ", --procs, '${x}'", "b", ""},
		{"TOKEN: 'a-${x}'", "", "b", "services.go.env.TOKEN: it is a secret by its name, and the labels of cells show ${x}"},
		{`DB: "postgres://u:${x}@db/"`, "", "b", "services.go.env.DB: it is a secret by its name"},
		{"DB: '${x}'", "", "postgres://u:Mark3r-1@db/", "vary.x[1]: the labels of cells show the values of vary"},
		{"SORT_KEY: {public: '${x}'}, LEVEL: '${x}'", "", "b", ""},
	} {
		text := strings.NewReplacer("@", c.env, "#", c.words, "%", c.value).Replace(text)
		_, err := file.Parse("shop.yaml", []byte(text), nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), marker)) {
			t.Errorf("%s%s: %v, want %q", c.env, c.words, err, c.want)
		}
	}
}

func TestSettingsOfAProgramAreHidden(t *testing.T) {
	var s file.Settings
	s.Set("", "name", "try")
	s.Set("", "services.x", map[string]any{"command": []string{"x", "--token=Mark3r-1"}, "env": map[string]any{"TOKEN": "Mark3r-2", "N": "1"}})
	s.Set("", "load.request.path", "/")
	s.Set("", "load.request.headers", map[string]string{"Authorization": "Basic Mark3r-3"})
	s.Set("", "load.users", 1)
	e, err := file.Build("try", s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(e.Source, marker) || strings.Contains(fmt.Sprint(e.Shown().Cells), marker) {
		t.Errorf("%s\n%+v", e.Source, e.Shown().Cells)
	}
	if e.Cells[0].Service.Env["TOKEN"] != "Mark3r-2" {
		t.Error("what runs lost its secrets")
	}
	s.Set("", "services.x.command", []string{"http://127.0.0.1/?token=(redacted)"}) // as load shows its target
	if _, err := file.Build("load", s, nil); err != nil {
		t.Error(err)
	}
}
