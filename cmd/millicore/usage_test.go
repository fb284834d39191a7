package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/base/exit"
)

// stderrOf runs the command line and returns its exit code and standard error.
func stderrOf(t *testing.T, args ...string) (int, string) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = before }()
	code := run(args)
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return code, strings.TrimSpace(string(text))
}

// internals are texts of Go's packages that only programmers of Go understand.
var internals = regexp.MustCompile(`dial tcp|connect: |strconv\.|context (deadline|canceled)|i/o timeout|x509:|lookup \S+ |invalid (syntax|argument)|open \S+: |no such file or|is a directory|(Get|Post) "|shorthand|goroutine`)

func TestWrongUsageSuggestsWhatWasMeant(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "server")
	if err := os.WriteFile(script, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"laod"}, `unknown command "laod"; did you mean: millicore load`},
		{[]string{"quick"}, `unknown command "quick"; did you mean: millicore run quick`},
		{[]string{"mine.yaml"}, `did you mean: millicore run mine.yaml`},
		{[]string{"http://127.0.0.1/"}, `did you mean: millicore load http://127.0.0.1/`},
		{[]string{script}, `did you mean: millicore try -- ` + script},
		{[]string{"bogus-thing"}, `unknown command "bogus-thing"; commands: try, run, load`},
		{[]string{"load", "--duraton", "5s", "http://127.0.0.1/"}, "unknown flag --duraton; did you mean --duration?"},
		{[]string{"load", "-duration", "5", "http://127.0.0.1/"}, "unknown flag -duration; did you mean --duration?"},
		{[]string{"load", "-duraton", "5", "http://127.0.0.1/"}, "unknown flag -duraton; did you mean --duration?"},
		{[]string{"load", "-body=x", "http://127.0.0.1/"}, "unknown flag -body; did you mean --body?"},
		{[]string{"load", "-d", "5x", "http://127.0.0.1/"}, `--duration "5x": expected a time, as in 10s, 500ms or 2m`},
		{[]string{"load", "-b", "@nofile", "http://127.0.0.1/"}, "-b @nofile: nofile does not exist"},
		{[]string{"load", "-b", "@/etc", "http://127.0.0.1/"}, "-b @/etc: /etc is a folder; name a file"},
		{[]string{"load", "--body-file", "nofile", "http://127.0.0.1/"}, "--body-file nofile: nofile does not exist"},
		{[]string{"load", "--bearer-env", "NOT_THERE", "http://127.0.0.1/"}, "--bearer-env: the variable NOT_THERE is not set"},
		{[]string{"load", "--cacert", "nofile", "https://127.0.0.1/"}, "--cacert: nofile does not exist"},
		{[]string{"load", "--cacert", "/etc/hostname", "https://127.0.0.1/"}, "--cacert: /etc/hostname has no certificate in PEM format"},
		{[]string{"load", "--junit", "x.xml", "http://127.0.0.1/"}, "--junit writes a test case for each threshold"},
		{[]string{"load", "-d", "2h", "http://127.0.0.1/"}, "a load of 2h is longer than 1h; use --yes to send it"},
		{[]string{"completion", "foo"}, "completion: expected a shell (one of bash, zsh, fish, powershell), got foo"},
		{[]string{"completion"}, "got none"},
		{[]string{"run", "missing.yaml"}, "read the experiment: missing.yaml does not exist"},
		{[]string{"run", "/etc"}, "read the experiment: /etc is a folder; name a file"},
		{[]string{"try", "--replay", "access.log", "--", "x"}, "unknown flag --replay; here the search sets the load; millicore load --replay sends the requests of an access log"},
		{[]string{"try", "-cpu", "1", "--", "x"}, "unknown flag -cpu; did you mean --cpu?"},
		{[]string{"try", "--cpu", "500m,500m", "--", "x"}, "--cpu: 500m and 500m are the same limit"},
		{[]string{"try", "--cpu", "1,1", "--", "x"}, "--cpu: 1 and 1 are the same limit"},
		{[]string{"try", "--cpu", "250m,1,250m", "--", "x"}, "--cpu: 250m and 250m are the same limit"},
		{[]string{"try", "--cpu", "0", "--", "x"}, "--cpu 0: a process cannot run under a limit of 0; write none for no limit"},
		{[]string{"try", "--cpu", "500m", "python3", "-m", "http.server"}, "write -- before the server's command, so that its flags are not read as those of try: millicore try --cpu 500m -- python3 -m http.server"},
		{[]string{"try", "nginx", "-cpu", "1"}, "write -- before the server's command"},
		{[]string{"try", "./server", "--port", "x"}, "millicore try -- ./server --port x"},
		{[]string{"try", "--prot", "80", "./server", "-x"}, "unknown flag --prot; did you mean --port?"},
		{[]string{"try", "--users", "50", "--", "x"}, "--users takes no number: it is a switch, and the search finds how many users the server holds; leave out 50"},
		{[]string{"try", "--users", "50", "x"}, "--users takes no number"},
		{[]string{"try", "--users", "50", "--attach", "4242"}, "--users takes no number"},
		{[]string{"try", "--as-is", "yes", "--", "x"}, "try: yes stands before --, after which the server's command begins"},
		{[]string{"try", "--p99", "100", "--", "x"}, `--p99 "100": expected a time with its unit, as in 100ms or 1s`},
		{[]string{"try", "--p99", "soon", "--", "x"}, `--p99 "soon": expected a time`},
		{[]string{"try", "--save", "/nonexistent/x.yaml", "--", "x"}, "--save /nonexistent/x.yaml: the folder /nonexistent does not exist; make it first"},
		{[]string{"try", "--body", "@", "--", "x"}, "--body @: want the name of a file, as in @body.json"},
		{[]string{"try", "--body", "@/nofile", "--", "x"}, "--body @/nofile: /nofile does not exist"},
		{[]string{"load", "-r", "20", "http://127.0.0.1/"}, "unknown flag -r; did you mean -R (--rate)?"},
		{[]string{"load", "-q", "100", "http://127.0.0.1/"}, "-q takes no value: it is --quiet; here -R sets the rate of all connections together"},
		{[]string{"load", "-z30s", "http://127.0.0.1/"}, "unknown flag -z30s; here -d sets the duration"},
		{[]string{"load", "--latency", "http://127.0.0.1/"}, "unknown flag --latency; here percentiles are printed always"},
		{[]string{"try", "-o", "runs/x", "--", "x"}, "unknown flag -o; did you mean --openapi or --out?"},
		{[]string{"run", "quick", "-z"}, "unknown flag -z; see millicore run --help"},
		{[]string{"run", "quik"}, `no experiment with this name ships; did you mean quick?`},
		{[]string{"run", "--zzzz"}, "unknown flag --zzzz; see millicore run --help"},
		{[]string{"run", "quick", "--on", "dokcer"}, "--on dokcer: want one of local, docker, kubernetes; did you mean docker?"},
		{[]string{"run", "quick", "--seed", "x"}, `--seed "x": expected a whole number from 0 up`},
		{[]string{"load", "-t", "many", "http://127.0.0.1/"}, `--threads "many": expected a whole number`},
		{[]string{"load", "-R", "fast", "http://127.0.0.1/"}, `--rate "fast": expected a number`},
		{[]string{"load", "http://127.0.0.1/", "-d"}, "--duration needs a value (duration)"},
		{[]string{"version", "--color", "sometimes"}, "--color sometimes: want one of auto, always, never"},
		{[]string{"report", "--json", "--csv", "x"}, "--csv and --json exclude each other; keep one"},
		{[]string{"compare", "a", "b", "--junit", "x.xml"}, "--junit writes a test case for each bound"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			code, text := stderrOf(t, c.args...)
			if code != exit.Usage || !strings.Contains(text, c.want) {
				t.Errorf("exit code %d, %q; want %q", code, text, c.want)
			}
			if left := internals.FindString(text); left != "" {
				t.Errorf("%q is a text of Go's packages: %s", left, text)
			}
		})
	}
}

// What cannot have been meant is refused before anything is started.
func TestImplausibleLimit(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.yaml")
	text := "name: mine\nservices: {s: {command: [./s]}}\nlimits: {cpu: \"5000\"}\nload: {request: {path: /}, users: 1}\n"
	for cpu, want := range map[string]string{"5000": "more than 4096 CPUs; write thousandths of a CPU with an m", "4000": "did you mean 4000m, thousandths of a CPU?"} {
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "5000", cpu)), 0o644); err != nil {
			t.Fatal(err)
		}
		code, got := stderrOf(t, "run", file, "--out", filepath.Join(dir, "out"))
		if code != exit.Usage || !strings.Contains(got, want) {
			t.Errorf("%s: exit code %d, %q; want %q", cpu, code, got, want)
		}
	}
}
