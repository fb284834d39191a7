package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/record"
)

// marker is in every secret of these tests, and in nothing that the programs write.
const marker = "Mark3r"

// guarded runs millicore in a folder and keeps all that it prints.
type guarded struct {
	t       *testing.T
	dir     string // of work; the service writes what it got beside it
	got     string // file with the variables of the service
	printed bytes.Buffer
}

func guard(t *testing.T) *guarded {
	needCgroups(t)
	g := &guarded{t: t, dir: t.TempDir(), got: filepath.Join(t.TempDir(), "got")}
	t.Setenv("XDG_STATE_HOME", filepath.Join(g.dir, "state"))
	t.Setenv("CI_TOKEN", marker+"-from-env-1")
	return g
}

// millicore runs a command and returns its exit code and what it prints.
func (g *guarded) millicore(args ...string) (code int, out string) {
	g.t.Helper()
	c := exec.Command(filepath.Join(bin, "millicore"), args...)
	c.Dir = g.dir
	text, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		g.t.Fatal(err)
	}
	fmt.Fprintf(&g.printed, "$ millicore %q\n%s", args[0], text)
	if strings.Contains(string(text), marker) {
		g.t.Errorf("millicore %s prints a secret:\n%s", args[0], text)
	}
	return c.ProcessState.ExitCode(), string(text)
}

// ends runs a command that ends with a code.
func (g *guarded) ends(want int, args ...string) string {
	g.t.Helper()
	code, out := g.millicore(args...)
	if code != want {
		g.t.Fatalf("millicore %q ended with %d, want %d:\n%s", args, code, want, out)
	}
	return out
}

// file writes a file with secrets beside the folder of work.
func (g *guarded) file(name, text string) string {
	g.t.Helper()
	path := filepath.Join(filepath.Dir(g.got), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	return path
}

// clean checks everything in the folder of work: no file has a secret, and only its owner
// reads a record.
func (g *guarded) clean(records ...string) {
	g.t.Helper()
	files := 0
	err := filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if i := bytes.Index(text, []byte(marker)); i >= 0 {
			g.t.Errorf("%s has a secret: …%s…", path, text[max(0, i-80):min(len(text), i+40)])
		}
		return err
	})
	if err != nil || files == 0 {
		g.t.Fatalf("%d files: %v", files, err)
	}
	for _, name := range records {
		err := filepath.WalkDir(filepath.Join(g.dir, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if want := map[bool]fs.FileMode{true: record.DirMode, false: record.FileMode}[d.IsDir()]; err == nil && info.Mode().Perm() != want {
				g.t.Errorf("%s has mode %v", path, info.Mode())
			}
			return err
		})
		if err != nil {
			g.t.Fatal(err)
		}
	}
}

const secretive = `name: shop
services:
  app:
    command: [sh, -c, 'env | grep ^T_ | sort > "$OUT"; exec "$0" "$@"', SERVER, --port, "${port}"]
    env:
      OUT: GOT
      T_TOKEN: Mark3r-literal-1
      T_REF_SECRET: {from_env: CI_TOKEN}
      T_FILE_KEY: {from_file: value.txt}
      T_DATABASE_URL: postgres://app:Mark3r-password@127.0.0.1:5432/shop
      T_OLD: "${old.url}"
      T_LEVEL: debug
    dependencies:
      - {name: old, url: "mongodb://u:Mark3r-dependency@127.0.0.1/x"}
load:
  request: {path: "/ok?access_token=Mark3r-query", headers: {Authorization: Bearer Mark3r-bearer, Cookie: s=Mark3r-cookie}}
  users: 2
measure: {warmup: 500ms, duration: 1s, repeats: 1, interval: 500ms}
objective: {p99: 10s}
`

func TestSecretsAreInNoRecordAndNoOutput(t *testing.T) {
	g := guard(t)
	g.file("value.txt", marker+"-from-file-1\n")
	path := g.file("shop.yaml", strings.NewReplacer("SERVER", filepath.Join(bin, "server"), "GOT", g.got).Replace(secretive))
	set := []string{"--set", "services.app.env.T_SET_PASSWORD=Mark3r-set-1"}

	g.ends(0, slices.Concat([]string{"run", path, "--out", "a"}, set)...)
	got, err := os.ReadFile(g.got)
	if err != nil {
		t.Fatal(err)
	}
	if want := `T_DATABASE_URL=postgres://app:Mark3r-password@127.0.0.1:5432/shop
T_FILE_KEY=Mark3r-from-file-1
T_LEVEL=debug
T_OLD=mongodb://u:Mark3r-dependency@127.0.0.1/x
T_REF_SECRET=Mark3r-from-env-1
T_SET_PASSWORD=Mark3r-set-1
T_TOKEN=Mark3r-literal-1
`; string(got) != want {
		t.Errorf("the service got\n%s", got)
	}
	t.Setenv("CI_TOKEN", marker+"-from-env-2")
	g.ends(0, slices.Concat([]string{"run", path, "--out", "b", "--json"}, set)...)
	for _, how := range [][]string{{}, {"--json"}, {"--csv"}, {"--markdown"}, {"--junit", "report.xml"}} {
		g.ends(0, append([]string{"report", "a"}, how...)...)
	}
	if out := g.ends(0, "compare", "a", "b", "--details"); !strings.Contains(out, "T_REF_SECRET") || strings.Contains(out, "T_TOKEN") {
		t.Errorf("only T_REF_SECRET differs:\n%s", out)
	}
	if out := g.ends(0, slices.Concat([]string{"run", path, "--dry-run"}, set)...); !strings.Contains(out, "T_TOKEN=(redacted)") || !strings.Contains(out, "(from_env CI_TOKEN)") {
		t.Errorf("%s", out)
	}
	g.ends(0, slices.Concat([]string{"run", path, "--dry-run", "--json"}, set)...)

	r, err := record.Open(filepath.Join(g.dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	s := r.Run.Experiment.Cells[0].Service
	if s.EnvFrom["T_REF_SECRET"].FromEnv != "CI_TOKEN" || len(s.EnvHashes) != 5 || !strings.Contains(r.Run.Experiment.Source, "T_LEVEL: debug") {
		t.Errorf("%+v\n%s", s, r.Run.Experiment.Source)
	}
	g.clean("a", "b")
}

// A service that prints its token and ends: its output is kept as it is, in its log, and
// in no error and no reason.
func TestSecretsAreInNoError(t *testing.T) {
	g := guard(t)
	path := g.file("shop.yaml", `name: shop
services: {app: {command: [sh, -c, 'echo "token $TOKEN"; exit 1'], env: {TOKEN: Mark3r-printed-1}}}
load: {request: {path: /}, users: 1}
measure: {repeats: 1}
`)
	if out := g.ends(1, "run", path, "--out", "failed"); !strings.Contains(out, "token (redacted)") {
		t.Errorf("the end of the output is not shown:\n%s", out)
	}
	logs, err := filepath.Glob(filepath.Join(g.dir, "failed", "logs", "*", "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v, %v", logs, err)
	}
	if text, err := os.ReadFile(logs[0]); err != nil || !strings.Contains(string(text), "Mark3r-printed-1") {
		t.Errorf("the output was changed: %s, %v", text, err)
	}
	if err := os.Remove(logs[0]); err != nil {
		t.Fatal(err)
	}
	g.ends(2, "run", path, "--set", "services.app.env.TOKEN=[Mark3r-list]")
	g.ends(2, "run", path, "--set", "services.app.env.TOKEN=Mark3r${x")
	g.ends(2, "run", g.file("missing.yaml", `name: shop
services: {app: {command: [sh], env: {TOKEN: {from_env: MILLICORE_TEST_NOWHERE}, A_KEY: Mark3r-x}}}
load: {request: {path: /}, users: 1}
`))
	r, err := record.Open(filepath.Join(g.dir, "failed"))
	if err != nil {
		t.Fatal(err)
	}
	again := g.file("again.yaml", r.Run.Experiment.Source)
	if out := g.ends(2, "run", again); !strings.Contains(out, "services.app.env.TOKEN: this value was hidden") || !strings.Contains(out, "from_env: TOKEN") {
		t.Errorf("%s", out)
	}
	g.clean("failed")
}

func TestSecretsOfLoadAndTry(t *testing.T) {
	hurry(t)
	g := guard(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("access_token") != "Mark3r-query" || r.Header.Get("Cookie") != "s=Mark3r-cookie" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer service.Close()
	g.ends(0, "load", "-c", "1", "-d", "1s", "--threshold", "errors<1%", "-H", "Cookie: s=Mark3r-cookie", "--out", "load", service.URL+"/?access_token=Mark3r-query")
	g.ends(1, "load", "-d", "1s", "http://127.0.0.1:1/?access_token=Mark3r-query")
	g.ends(2, "load", "-d", "1s", "http://u:Mark3r-pw@127.0.0.1/")

	code, out := g.millicore("try", "--as-is", "--get", "/ok", "--traffic", "10s", "--env", "TOKEN=Mark3r-try-1", "--header", "Authorization: Bearer Mark3r-header-1",
		"--save", "saved.yaml", "--out", "try", "--cpu", "500m", "--", filepath.Join(bin, "server"), "--port", "${port}")
	if code != 0 && code != 98 && code != 99 {
		t.Fatalf("%d: %s", code, out)
	}
	saved, err := os.ReadFile(filepath.Join(g.dir, "saved.yaml"))
	if err != nil || !strings.Contains(string(saved), "{from_env: TOKEN}") || !strings.Contains(out, "does not have the value of TOKEN") {
		t.Errorf("%s, %v\n%s", saved, err, out)
	}
	text, err := os.ReadFile(filepath.Join(g.dir, "load", record.RunFile))
	if err != nil || !json.Valid(text) || !strings.Contains(string(text), "access_token=(redacted)") {
		t.Errorf("%s, %v", text, err)
	}
	g.clean("load", "try")
}

// With sudo the record belongs to the user who called it, and the service runs as that
// user if its files allow it.
func TestSudo(t *testing.T) {
	g := guard(t)
	t.Setenv("SUDO_UID", "65534")
	t.Setenv("SUDO_GID", "65534")
	for _, dir := range []string{g.dir, filepath.Dir(g.dir), bin} { // nobody can enter them
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(g.got, nil, 0o644), os.Chown(g.got, 65534, 65534), os.Chmod(filepath.Dir(g.got), 0o755)); err != nil {
		t.Fatal(err)
	}
	path := g.file("shop.yaml", strings.NewReplacer("SERVER", filepath.Join(bin, "server"), "GOT", g.got).Replace(`name: shop
services: {app: {command: [sh, -c, 'id -u > GOT; exec "$0" "$@"', SERVER, --port, "${port}"]}}
load: {request: {path: /ok}, users: 1}
measure: {warmup: 500ms, duration: 1s, repeats: 1, interval: 500ms}
`))
	as := func(want, out, line string) {
		t.Helper()
		if got, err := os.ReadFile(g.got); err != nil || strings.TrimSpace(string(got)) != want || !strings.Contains(out, line) {
			t.Errorf("it ran as %s, %v, want %s and the line %q\n%s", got, err, want, line, out)
		}
	}
	out := g.ends(0, "run", path, "--out", "record")
	as("65534", out, `sh runs as nobody, who called sudo, and not as root; user: caller (try --user caller) runs it as root`)
	as("0", g.ends(0, "run", path, "--out", "caller", "--set", "services.app.user=caller"), "")
	for name, want := range map[string]int{"record": 65534, "caller": 0} {
		r, err := record.Open(filepath.Join(g.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Trials[len(r.Trials)-1].Users; len(got) != 1 || got["app"] != want {
			t.Errorf("%s: the users %v, want %d", name, got, want)
		}
	}
	if err := os.Chmod(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	as("0", g.ends(0, "run", path, "--out", "shut"), "nobody may not read "+filepath.Join(bin, "server"))
	g.ends(0, "report", "record")
	theirs, err := exec.Command("find", filepath.Join(g.dir, "record"), "!", "-uid", "65534").CombinedOutput()
	if err != nil || len(theirs) > 0 {
		t.Errorf("not the user's: %s, %v", theirs, err)
	}
	g.clean("record")
}
