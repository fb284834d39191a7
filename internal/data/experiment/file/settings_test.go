package file_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

// tried are the settings of a server that is tried.
func tried() file.Settings {
	var s file.Settings
	s.Set("", "name", "try-nginx")
	s.Set("", "about", file.Raw("nginx at 500m: where does it break?"))
	service := func(name string, command any, settings ...any) {
		s.Set("the command", "services."+name, map[string]any{"command": command})
		for i := 0; i < len(settings); i += 2 {
			key := settings[i].(string)
			s.Set("--"+key, "services."+name+"."+key, settings[i+1])
		}
	}
	nginx := []string{"nginx", "-g", "daemon off; # ${x}", ""}
	service("as-it-is", nginx, "dir", "/srv/www", "port", "find")
	service("two", nginx, "dir", "/srv/www", "env", map[string]any{"GOMAXPROCS": "2", "GOGC": nil},
		"port", 8080, "ready", "/", "ready_timeout", time.Minute)
	service("replicas", []file.Raw{"./serve", "--listen=${port}"}, "dir", "/srv", "env", map[string]any{"LISTEN": file.Raw(":${port}")},
		"limits", map[string]any{"cpu": "250m", "replicas": 2})
	service("no-limit", nginx, "dir", "/srv/www", "port", "find", "limits.cpu", nil, "metrics.path", "/m", "metrics.dependency", "db_seconds")
	s.Set("--cpu", "limits.cpu", "500m")
	s.Set("--memory", "limits.memory", "256Mi")
	s.Set("--get", "load.request.path", "/get?n=1")
	s.Set("", "load.find", "breaking-point")
	s.Set("--traffic", "measure.duration", 90*time.Second)
	s.Set("--p99", "objective.p99", 100*time.Millisecond)
	s.Set("--availability", "objective.availability", 99.9)
	s.Set("--profile", "profile", true)
	return s
}

// build makes an experiment of settings that are right, and checks that the file
// it could have means the same.
func build(t testing.TB, s file.Settings) *experiment.Experiment {
	t.Helper()
	e, err := file.Build("x", s, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := file.Parse("x", []byte(e.Source), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, e.Source)
	}
	if diff := cmp.Diff(e, again); diff != "" {
		t.Fatalf("experiment against that of its file (-want +got):\n%s\n%s", diff, e.Source)
	}
	return e
}

func TestAnExperimentIsWrittenAsPeopleWrite(t *testing.T) {
	const want = `name: try-nginx
about: "nginx at 500m: where does it break?"
services:
  as-it-is:
    command: [nginx, -g, "daemon off; # $${x}", ""]
    dir: /srv/www
    port: find
  two:
    command: [nginx, -g, "daemon off; # $${x}", ""]
    dir: /srv/www
    env: {GOGC: null, GOMAXPROCS: 2}
    port: 8080
    ready: /
    ready_timeout: 1m
  replicas:
    command: [./serve, "--listen=${port}"]
    dir: /srv
    env: {LISTEN: ":${port}"}
    limits: {cpu: 250m, replicas: 2}
  no-limit:
    command: [nginx, -g, "daemon off; # $${x}", ""]
    dir: /srv/www
    port: find
    limits: {cpu: null}
    metrics: {path: /m, dependency: db_seconds}
limits: {cpu: 500m, memory: 256Mi}
load:
  request: {path: "/get?n=1"}
  find: breaking-point
measure: {duration: 1m30s}
objective: {p99: 100ms, availability: 99.9}
profile: true
`
	e := build(t, tried())
	if diff := cmp.Diff(want, e.Source); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	var limits []experiment.Limits
	for _, c := range e.Cells {
		limits = append(limits, c.Limits)
	}
	period := 100 * time.Millisecond
	wantLimits := []experiment.Limits{
		{CPUMillis: 500, Memory: 256 << 20, Period: period, Replicas: 1},
		{CPUMillis: 500, Memory: 256 << 20, Period: period, Replicas: 1},
		{CPUMillis: 250, Memory: 256 << 20, Period: period, Replicas: 2},
		{Memory: 256 << 20, Period: period, Replicas: 1},
	}
	if diff := cmp.Diff(wantLimits, limits); diff != "" {
		t.Errorf("limits of the cells (-want +got):\n%s", diff)
	}
}

// awkward are texts that a careless writer or reader of YAML changes.
var awkward = []string{
	"", " ", "  x ", "#", "a # b", "a: b", "a:", ":", "-", "- a", "---", "...", "-x", "--", "?", "? a",
	"yes", "No", "ON", "off", "true", "True", "false", "null", "NULL", "~", "y", "n", "<<", ".inf", ".NaN",
	"007", "010", "0x1F", "0o17", "1e3", "1_000", "12:30:45", "2006-01-02", "3.14", "+1", "-1", "500m",
	"${port}", "$${port}", "$$${port}", "${x:-1}", "${", "$", "$$", "{{uuid}}", "{{", "}}", "{a}", "[a]", "a,b",
	"it's", `say "hi"`, `back\slash`, `\`, `\n`, `\x41`, `"`, "'", "`", "@a", "%a", "!a", "!!str", "&a", "*a", "|", ">",
	"two\nlines", "\n", "tab\there", "\t", "cr\rlf\r\n", "\a\b\v\f\x1b\x7f", "\u0085\u00a0\u2028\u2029\ufeff",
	"Größe", "日本", "😀", "\U000e0001", "e\u0301", "\ufffd",
}

func anyText() *rapid.Generator[string] {
	pieces := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(awkward), 1, 4), func(all []string) string { return strings.Join(all, "") })
	letters := rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 }))
	return rapid.OneOf(rapid.SampledFrom(awkward), pieces, letters)
}

// What is set is what is run, whatever the letters; and so is the file of it.
func TestSettingsAreReadAsTheyWereMeant(t *testing.T) {
	schema := compiledSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		settings, want := drawSettings(t)
		built, err := file.Build("x.yaml", settings, nil)
		if err != nil {
			t.Fatalf("%v\n%v", err, settings)
		}
		text := built.Source
		read, err := file.Parse("x.yaml", []byte(text), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		ignored := cmpopts.IgnoreFields(experiment.Experiment{}, "Source", "Kubernetes") // of which the settings have nothing
		for _, e := range []*experiment.Experiment{built, read} {
			literally(t, e)
			if diff := cmp.Diff(want, e, ignored, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("experiment (-want +got):\n%s\n%s", diff, text)
			}
		}
		value, err := asJSON([]byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if err := schema.Validate(value); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}

// literally does what the platform does last with commands and variables.
func literally(t *rapid.T, e *experiment.Experiment) {
	expand := func(text string) string {
		got, err := experiment.Expand(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for i := range e.Cells {
		s := &e.Cells[i].Service
		for k := range s.Command {
			s.Command[k] = expand(s.Command[k])
		}
		for name, value := range s.Env {
			s.Env[name] = expand(value)
		}
	}
}

// drawSettings gives settings, and the experiment that they mean.
func drawSettings(t *rapid.T) (file.Settings, *experiment.Experiment) {
	var s file.Settings
	want := &experiment.Experiment{
		Name:      rapid.StringMatching(`[a-z0-9]{1,8}`).Draw(t, "name"),
		About:     anyText().Draw(t, "about"),
		Profile:   rapid.Bool().Draw(t, "profile"),
		Objective: &experiment.Objective{Availability: float64(rapid.IntRange(10, 1000).Draw(t, "availability")) / 10},
		Measure:   experiment.Measure{Warmup: 5 * time.Second, Duration: 20 * time.Second, Repeats: 6, Interval: time.Second},
	}
	s.Set("", "name", want.Name)
	s.SetGiven("", "about", file.Raw(want.About))
	s.SetGiven("", "profile", want.Profile)
	s.Set("", "objective.availability", want.Objective.Availability)
	if o := want.Objective; rapid.Bool().Draw(t, "late") {
		o.Quantile = rapid.SampledFrom([]string{"p50", "p90", "p95", "p99", "p999"}).Draw(t, "quantile")
		o.Latency = time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "latency"))
		s.Set("", "objective."+o.Quantile, o.Latency)
	}
	s.Set("", "limits.memory", "64Mi")
	load := drawLoad(t, &s)
	if load.Find {
		want.Measure = experiment.Measure{Warmup: 3 * time.Second, Duration: time.Minute, Repeats: 1, Interval: 500 * time.Millisecond}
	}
	if length := time.Duration(rapid.SampledFrom([]int{0, 10, 75}).Draw(t, "duration")) * time.Second; length > 0 {
		want.Measure.Duration = length
		s.Set("", "measure.duration", length)
	}
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9]{1,3}`), 1, 3, rapid.ID).Draw(t, "services")
	for i, name := range names {
		cell := experiment.Cell{
			Index: i, Service: drawService(t, name, &s), Load: load,
			Limits: experiment.Limits{Memory: 64 << 20, Period: 100 * time.Millisecond, Replicas: 1},
		}
		if rapid.Bool().Draw(t, "without limit") {
			s.Set("", "services."+name+".limits.memory", nil)
			cell.Limits.Memory = 0
		}
		want.Cells = append(want.Cells, cell)
	}
	return s, want
}

func drawLoad(t *rapid.T, s *file.Settings) experiment.Load {
	// The value of a header that names a secret, such as X-Dsn, is not in the file.
	header := rapid.StringMatching(`X-[A-Za-z]{1,4}`).Filter(func(name string) bool { return !secret.Header(name) })
	headers := rapid.MapOfN(header, anyText().Filter(oneLine), 0, 2)
	l := experiment.Load{
		Request: experiment.Request{
			Method:  rapid.SampledFrom([]string{"GET", "POST"}).Draw(t, "method"),
			Path:    "/" + rapid.StringMatching(`[!-"$-~]{0,12}`).Draw(t, "path"),
			Headers: headers.Draw(t, "headers"),
			Body:    anyText().Draw(t, "body"),
		},
		Find:    rapid.Bool().Draw(t, "find"),
		Timeout: time.Duration(rapid.IntRange(1, 60_000).Draw(t, "timeout")) * time.Millisecond,
		Agents:  1, Threads: 1,
	}
	s.Set("", "load.request.method", l.Request.Method)
	s.Set("", "load.request.path", l.Request.Path)
	s.SetGiven("", "load.request.headers", l.Request.Headers)
	s.SetGiven("", "load.request.body", l.Request.Body)
	s.Set("", "load.timeout", l.Timeout)
	if l.Find {
		s.Set("", "load.find", "breaking-point")
	}
	target := &experiment.Target{Value: float64(rapid.IntRange(1, 1000).Draw(t, "target"))}
	switch aim := rapid.IntRange(0, 2).Draw(t, "aim"); {
	case aim == 1:
		l.Rate = target
		s.Set("", "load.rate", target.Value)
		if l.Even = rapid.Bool().Draw(t, "even"); l.Even {
			s.Set("", "load.spacing", "even")
		}
	case aim == 2 && l.Find:
		l.Rate = &experiment.Target{Value: 50} // where a search begins by default
	default:
		l.Users = target
		s.Set("", "load.users", target.Value)
	}
	return l
}

func oneLine(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func drawService(t *rapid.T, name string, s *file.Settings) experiment.Service {
	service := experiment.Service{
		Name:    name,
		Command: rapid.SliceOfN(anyText(), 1, 4).Draw(t, "command"),
		Dir:     filepath.Join("/", anyText().Draw(t, "dir")),
		Env:     make(map[string]string),
		Ready:   experiment.Ready{Timeout: time.Duration(rapid.IntRange(1, 90).Draw(t, "ready")) * time.Second},
	}
	at := "services." + name
	s.Set("", at, map[string]any{"command": service.Command})
	s.Set("", at+".dir", service.Dir)
	s.Set("", at+".ready_timeout", service.Ready.Timeout)
	variable := anyText().Filter(func(s string) bool { return s != "" && !strings.Contains(s, "=") && !secret.Variable(s) })
	env := make(map[string]any)
	for key, value := range rapid.MapOfN(variable, anyText(), 0, 3).Draw(t, "env") {
		if value == "" {
			env[key] = nil
			service.Unset = append(service.Unset, key)
		} else {
			env[key], service.Env[key] = value, value
		}
	}
	slices.Sort(service.Unset)
	s.SetGiven("", at+".env", env)
	switch rapid.IntRange(0, 2).Draw(t, "port") {
	case 0:
		service.FindPort = true
		s.Set("", at+".port", "find")
	case 1:
		service.Port = rapid.IntRange(1, 65535).Draw(t, "number")
		s.Set("", at+".port", service.Port)
	}
	if rapid.Bool().Draw(t, "metrics") {
		m := &experiment.Metrics{Path: "/" + rapid.StringMatching(`[!-"$-~]{0,12}`).Draw(t, "metrics path"),
			Dependency: rapid.StringMatching(`[a-zA-Z_:][a-zA-Z0-9_:]{0,8}`).Draw(t, "histogram")}
		service.Metrics = m
		s.Set("", at+".metrics", map[string]any{"path": m.Path, "dependency": m.Dependency})
	}
	return service
}

func TestAPortIsDistinguishedFromLetters(t *testing.T) {
	for _, c := range []struct{ name, word, want string }{
		{"the port alone", "${port}", "8080"},
		{"among letters", "-p${port}:${port}.", "-p8080:8080."},
		{"other names are letters", "${x}${port}${port:-1}", "${x}8080${port:-1}"},
		{"letters of the port", "$${port}${port}", "${port}8080"},
		{"a dollar before letters of the port", "$$${port}", "$${port}"},
		{"a name's beginning before the port", "${${port}", "${8080"},
		{"dollars", "$ $$ $x", "$ $$ $x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tried()
			s.Set("", "services.s", map[string]any{"command": []any{"./s", file.Raw(experiment.WithPort(c.word)), c.word}, "env": map[string]any{"A": file.Raw(experiment.WithPort(c.word))}})
			cells := build(t, s).Cells
			service := cells[len(cells)-1].Service
			for text, want := range map[string]string{service.Command[1]: c.want, service.Env["A"]: c.want, service.Command[2]: c.word} {
				got, err := experiment.Expand(text, map[string]string{"port": "8080"})
				if err != nil || got != want {
					t.Errorf("%q became %q, %v, want %q", c.word, got, err, want)
				}
			}
		})
	}
}

func TestSettingsOfEveryLoad(t *testing.T) {
	for _, c := range []struct {
		name string
		want experiment.Load
		set  func(*file.Settings)
	}{
		{"requests", experiment.Load{Users: &experiment.Target{Value: 7}, Requests: 200, Agents: 2, Threads: 3, Connections: 5, Timeout: time.Minute}, func(s *file.Settings) {
			s.Set("", "load.users", 7)
			s.Set("", "load.requests", int64(200))
			s.Set("", "load.agents", 2)
			s.Set("", "load.threads", 3)
			s.Set("", "load.connections", 5)
			s.Set("", "load.timeout", time.Minute)
		}},
		{"stages", experiment.Load{Rate: &experiment.Target{Stages: []experiment.Stage{{Duration: 0, Target: 2.5}, {Duration: 90 * time.Second, Target: 7}}},
			Even: true, Agents: 1, Threads: 1, Timeout: 1500 * time.Microsecond}, func(s *file.Settings) {
			s.Set("", "load.rate.stages", []map[string]any{{"duration": time.Duration(0), "target": 2.5}, {"duration": 90 * time.Second, "target": 7}})
			s.Set("", "load.spacing", "even")
			s.Set("", "load.timeout", 1500*time.Microsecond)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s file.Settings
			s.Set("", "name", "x")
			s.Set("", "services.a", map[string]any{"command": []string{"./a"}})
			s.Set("", "load.request", map[string]any{"method": "PUT", "path": "/{{uuid}}/${x}"})
			c.set(&s)
			s.Set("", "measure", map[string]any{"warmup": time.Second, "repeats": 2, "interval": 200 * time.Millisecond})
			e := build(t, s)
			c.want.Request = experiment.Request{Method: "PUT", Path: "/{{uuid}}/${x}"}
			if diff := cmp.Diff(c.want, e.Cells[0].Load); diff != "" {
				t.Errorf("load (-want +got):\n%s", diff)
			}
			want := experiment.Measure{Warmup: time.Second, Duration: 20 * time.Second, Repeats: 2, Interval: 200 * time.Millisecond}
			if diff := cmp.Diff(want, e.Measure); diff != "" {
				t.Errorf("measure (-want +got):\n%s", diff)
			}
		})
	}
}

// An error begins with what the user wrote, and has the path of the field where
// that is another one.
func TestErrorsOfSettings(t *testing.T) {
	for _, c := range []struct {
		name, from, path string
		value            any
		want             string
	}{
		{"of the program", "", "name", "Try it", `x: name: "Try it" is not a valid name: use up to 63 lower-case letters, digits and inner hyphens`},
		{"of a flag", "--memory", "limits.memory", "${m}", `--memory: "${m}" is not a quantity of memory; write it as 256Mi or 1Gi`},
		{"a zero byte", "the command", "services.as-it-is.command", []string{"a\x00b"}, `the command: "a\x00b" contains a zero byte, which cannot be passed to a program`},
		{"not UTF-8", "the command", "services.as-it-is.command", []string{"caf\xe9"}, `the command: "caf\xe9" is not UTF-8`},
		{"a key that is not UTF-8", "-H", "load.request.headers", map[string]string{"caf\xe9": "x"}, `-H: "caf\xe9" is not UTF-8`},
		{"empty", "the command", "services.as-it-is.command", []string{}, `the command: services.as-it-is.command is empty`},
		{"no such field", "-x", "load.colour", "red", `-x: unknown key "load.colour"; keys: request, mix, session, protocol, insecure, ca_file, cert_file, key_file, session_tickets, source, server_name, users, rate, find, benchmark, requests, spacing, think, waiting, agents, threads, connections, streams, timeout`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tried()
			s.Set(c.from, c.path, c.value)
			_, err := file.Build("x", s, nil)
			var all file.Errors
			if !errors.As(err, &all) || all.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestNothingIsSet(t *testing.T) {
	_, err := file.Build("x", nil, nil)
	if err == nil || err.Error() != "x: name is missing\nx: services is missing\nx: load is missing" {
		t.Errorf("%v", err)
	}
}
