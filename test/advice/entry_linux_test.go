package advice

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/test/testkit"
)

// entry is a program of the campaign with the load that it is made for. In its texts PORT and
// DIR are the port and the folder of a run, HOME is where programs are installed that are no
// packages of Debian, and {N} is the limit rounded up to whole CPUs.
type entry struct {
	name string
	// from is where the program comes from, and how it is installed: apt PACKAGE…, pip
	// PACKAGE…, npm PACKAGE…, go MODULE@VERSION, cargo CRATE.
	from    string
	command []string
	env     []string
	files   map[string]string // that are made in its folder before the start
	once    string            // a command of the shell that prepares the folder; "": none
	headers []string

	// path is loaded over HTTP; "": client loads it, or it works by itself.
	path string
	// client is a command that loads the program for SECONDS; the first group of said in its
	// output is the rate.
	client string
	said   *regexp.Regexp
	// works is how the progress of a program that works by itself is counted.
	works func(s *service) float64

	// The setting that an expert chooses, of which at most one is set: NAME=VALUE of the
	// environment, NAME VALUE in a file, words of the command, or a higher limit. All empty:
	// the expert leaves it as it is.
	expertEnv, expertSetting string
	expertCommand            []string
	expertCPUs               func(cpus float64) float64
	// upTo is the limit up to which the expert changes the program; 0: all.
	upTo float64
	why  string // in a few words
}

// program is the entry as a program of a cell.
func (e *entry) program() program {
	p := program{name: e.name, paths: []string{e.path}, headers: e.headers, start: e.start, set: set, quiet: e.works != nil}
	switch {
	case e.client != "":
		p.rate = e.clientRate
	case e.works != nil:
		p.rate = e.workRate
	}
	return p
}

// start makes the folder of a run and returns the command.
func (e *entry) start(t *testing.T, dir, port string) (command, env []string) {
	t.Helper()
	install(t, e.from)
	within := strings.NewReplacer("DIR", dir, "PORT", port, "HOME", home(t))
	reachable(t, dir)
	for name, text := range e.files {
		write(t, filepath.Join(dir, name), within.Replace(text))
	}
	if e.once != "" {
		prepared := exec.Command("/bin/sh", "-c", within.Replace(e.once))
		prepared.Dir = dir
		if out, err := prepared.CombinedOutput(); err != nil {
			t.Skipf("prepare %s: %v: %s", e.name, err, out)
		}
	}
	command = replaced(e.command, within)
	if !filepath.IsAbs(command[0]) {
		command[0] = installed(t, command[0])
	}
	return command, replaced(e.env, within)
}

// chosen is the expert's change under a limit; ok is false if there is none.
func (e *entry) chosen(cpus float64) (c doctor.Change, ok bool) {
	within := strings.NewReplacer("{N}", strconv.Itoa(max(1, int(math.Ceil(cpus)))), "PORT", itsPort, "DIR", itsFolder, "HOME", cacheFolder())
	switch {
	case e.upTo > 0 && cpus > e.upTo:
		return c, false
	case e.expertEnv != "":
		name, value, _ := strings.Cut(e.expertEnv, "=")
		c.Env = map[string]string{name: within.Replace(value)}
	case e.expertSetting != "":
		name, value, _ := strings.Cut(e.expertSetting, " ")
		c.Setting, c.Text = name, within.Replace(value)
	case e.expertCommand != nil:
		c.Command = replaced(e.expertCommand, within)
	case e.expertCPUs != nil:
		c.CPUs = e.expertCPUs(cpus)
	default:
		return c, false
	}
	return c, true
}

// choice is the expert's change in words.
func (e *entry) choice(cpus float64) string {
	c, ok := e.chosen(cpus)
	if !ok {
		return "as it is"
	}
	return words(c) + ": " + e.why
}

// set changes a setting in the files of a run: NAME VALUE, NAME = VALUE, or NAME: VALUE, up
// to the end of the line or a semicolon.
func set(t *testing.T, dir, setting, value string) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^([ \t]*` + regexp.QuoteMeta(setting) + `[ \t:=]+)[^;\n#]+`)
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && line.Match(text) {
			write(t, file, line.ReplaceAllString(string(text), "${1}"+strings.ReplaceAll(value, "$", "$$")))
			return
		}
	}
	t.Skipf("no file of the program has the setting %s", setting)
}

// clientRate loads a service with its own client.
func (e *entry) clientRate(s *service, seconds int) float64 {
	s.t.Helper()
	within := strings.NewReplacer("DIR", s.dir, "PORT", s.port, "SECONDS", strconv.Itoa(seconds))
	cmd := exec.Command("/bin/sh", "-c", within.Replace(e.client))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := testkit.RunTied(cmd)
	all := e.said.FindAllStringSubmatch(out.String(), -1)
	if len(all) == 0 {
		s.t.Fatalf("%s: its client says no rate: %v: %s", e.name, err, out.String())
	}
	rate, err := strconv.ParseFloat(all[len(all)-1][1], 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return rate
}

// workRate is the progress of a program that works by itself.
func (e *entry) workRate(s *service, seconds int) float64 {
	began, before := time.Now(), e.works(s)
	<-time.After(time.Duration(seconds) * time.Second)
	return (e.works(s) - before) / time.Since(began).Seconds()
}

// lines counts those of the file that a program writes, its progress.
func lines(name string) func(s *service) float64 {
	return func(s *service) float64 {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil {
			return 0
		}
		return float64(bytes.Count(text, []byte("\n")))
	}
}

// megabytesRead counts what the processes of a service have read, in MB: the progress of a
// compressor.
func megabytesRead(s *service) (sum float64) {
	for _, pid := range s.group.PIDs(s.t) {
		text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "io"))
		_, value, _ := strings.Cut(string(text), "rchar: ")
		value, _, _ = strings.Cut(value, "\n")
		n, _ := strconv.ParseFloat(value, 64)
		sum += n / 1e6
	}
	return sum
}

// frames is the number of the last frame in a file of ffmpeg's option -progress.
func frames(s *service) float64 { return last(s, "progress", "frame=") }

// nodes is how many positions Stockfish has searched.
func nodes(s *service) float64 { return last(s, "log", " nodes ") }

// last is the number behind the last occurrence of a mark in a file; 0: none.
func last(s *service, name, mark string) float64 {
	text, _ := os.ReadFile(filepath.Join(s.dir, name))
	at := bytes.LastIndex(text, []byte(mark))
	if at < 0 {
		return 0
	}
	fields := strings.Fields(string(text[at+len(mark):]))
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseFloat(fields[0], 64)
	return n
}

// cacheFolder is where programs are installed that are no packages of Debian.
func cacheFolder() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "millicore", "advice")
}

func home(t *testing.T) string {
	t.Helper()
	dir := cacheFolder()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ready are the sources that were installed, or could not be.
var ready = map[string]string{}

// install installs what an entry is from, once: packages of Debian only as root.
func install(t *testing.T, from string) {
	t.Helper()
	why, done := ready[from]
	if !done {
		why = installedNow(home(t), from)
		ready[from] = why
	}
	if why != "" {
		t.Skipf("install %s: %s", from, why)
	}
}

// installedNow returns why a source cannot be installed; "": it is.
func installedNow(home, from string) string {
	kind, what, _ := strings.Cut(from, " ")
	script := map[string]string{
		"apt":   `dpkg -s WHAT >/dev/null 2>&1 || { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends WHAT; }`,
		"pip":   `[ -x venv/bin/pip ] || python3 -m venv venv; venv/bin/pip install -q --disable-pip-version-check WHAT`,
		"npm":   `npm install --silent --no-audit --no-fund --prefix HOME WHAT`,
		"go":    `GOBIN=HOME/bin GOFLAGS= go install WHAT`,
		"cargo": `cargo install -q --locked --root HOME WHAT`,
		"maven": `mvn -q dependency:copy -Dartifact=WHAT -DoutputDirectory=HOME/jars`,
	}[kind]
	cmd := exec.Command("/bin/sh", "-ec", strings.NewReplacer("WHAT", what, "HOME", home).Replace(script))
	cmd.Dir = home
	if out, err := cmd.CombinedOutput(); err != nil {
		return err.Error() + ": " + string(out)
	}
	return ""
}
