package experiment_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/experiment"
)

// tried is what trying a server would draft.
func tried() *experiment.Draft {
	two, port := "2", ":${port}"
	command := []string{"nginx", "-g", "daemon off; # ${x}", ""}
	return &experiment.Draft{
		Name:  "try-nginx",
		About: "nginx at 500m: where does it break?",
		Services: []experiment.DraftService{
			{Name: "as-it-is", Command: command, Dir: "/srv/www", FindPort: true},
			{Name: "two", Command: command, Dir: "/srv/www", Port: 8080, Ready: experiment.Ready{Path: "/", Timeout: time.Minute},
				Env: map[string]*string{"GOMAXPROCS": &two, "GOGC": nil}},
			{Name: "replicas", Command: []string{"./serve", "--listen=${port}"}, Dir: "/srv", TakesPort: true,
				Env: map[string]*string{"LISTEN": &port}, Limits: experiment.DraftLimits{CPU: "250m", Replicas: "2"}},
			{Name: "no-limit", Command: command, Dir: "/srv/www", FindPort: true,
				Metrics: &experiment.Metrics{Path: "/m", Dependency: "db_seconds"},
				Limits:  experiment.DraftLimits{CPU: experiment.Null}},
		},
		Limits:    experiment.DraftLimits{CPU: "500m", Memory: "256Mi"},
		Load:      experiment.Load{Request: experiment.Request{Path: "/get?n=1"}, Find: true},
		Measure:   experiment.Measure{Duration: 90 * time.Second},
		Objective: &experiment.Objective{Quantile: "p99", Latency: 100 * time.Millisecond, Availability: 99.9},
		Profile:   true,
	}
}

func TestADraftIsWrittenAsPeopleWrite(t *testing.T) {
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
	got := string(tried().YAML())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	e := parse(t, got)
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

// What a draft says is what is run, whatever the letters.
func TestADraftIsReadAsItWasMeant(t *testing.T) {
	schema := compiledSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		d, want := drawDraft(t)
		text := d.YAML()
		e, err := experiment.Parse("x.yaml", text, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		literally(t, e)
		ignored := cmpopts.IgnoreFields(experiment.Experiment{}, "Source", "Kubernetes") // of which a draft says nothing
		if diff := cmp.Diff(want, e, ignored, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("experiment (-want +got):\n%s\n%s", diff, text)
		}
		value, err := asJSON(text)
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

// drawDraft gives a draft, and what it means.
func drawDraft(t *rapid.T) (*experiment.Draft, *experiment.Experiment) {
	d := &experiment.Draft{
		Name:      rapid.StringMatching(`[a-z0-9]{1,8}`).Draw(t, "name"),
		About:     anyText().Draw(t, "about"),
		Objective: &experiment.Objective{Availability: float64(rapid.IntRange(1, 1000).Draw(t, "availability")) / 10},
		Profile:   rapid.Bool().Draw(t, "profile"),
		Limits:    experiment.DraftLimits{Memory: "64Mi"},
	}
	if rapid.Bool().Draw(t, "late") {
		d.Objective.Quantile = rapid.SampledFrom([]string{"p50", "p90", "p95", "p99", "p999"}).Draw(t, "quantile")
		d.Objective.Latency = time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "latency"))
	}
	want := &experiment.Experiment{Name: d.Name, About: d.About, Profile: d.Profile, Objective: d.Objective}
	d.Load, d.Measure = drawLoad(t)
	load := d.Load
	load.Agents, load.Threads = 1, 1
	want.Measure = experiment.Measure{Warmup: 5 * time.Second, Duration: 20 * time.Second, Repeats: 6, Interval: time.Second}
	if d.Load.Find {
		want.Measure = experiment.Measure{Warmup: 3 * time.Second, Duration: time.Minute, Repeats: 1, Interval: 500 * time.Millisecond}
		if load.Users == nil && load.Rate == nil {
			load.Rate = &experiment.Target{Value: 50}
		}
	}
	if d.Measure.Duration > 0 {
		want.Measure.Duration = d.Measure.Duration
	}
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9]{1,3}`), 1, 3, rapid.ID).Draw(t, "services")
	for i, name := range names {
		s, service := drawService(t, name)
		d.Services = append(d.Services, s)
		cell := experiment.Cell{
			Index: i, Service: service, Load: load,
			Limits: experiment.Limits{Memory: 64 << 20, Period: 100 * time.Millisecond, Replicas: 1},
		}
		if s.Limits.Memory == experiment.Null {
			cell.Limits.Memory = 0
		}
		want.Cells = append(want.Cells, cell)
	}
	return d, want
}

func drawLoad(t *rapid.T) (experiment.Load, experiment.Measure) {
	headers := rapid.MapOfN(rapid.StringMatching(`X-[A-Za-z]{1,4}`), anyText().Filter(oneLine), 0, 2)
	l := experiment.Load{
		Request: experiment.Request{
			Method:  rapid.SampledFrom([]string{"GET", "POST"}).Draw(t, "method"),
			Path:    "/" + rapid.StringMatching(`[!-"$-~]{0,12}`).Draw(t, "path"),
			Headers: headers.Draw(t, "headers"),
			Body:    anyText().Draw(t, "body"),
		},
		Find:    rapid.Bool().Draw(t, "find"),
		Timeout: time.Duration(rapid.IntRange(1, 60_000).Draw(t, "timeout")) * time.Millisecond,
	}
	target := &experiment.Target{Value: float64(rapid.IntRange(1, 1000).Draw(t, "target"))}
	switch rapid.IntRange(0, 2).Draw(t, "aim") {
	case 0:
		l.Users = target
	case 1:
		l.Rate = target
		l.Even = rapid.Bool().Draw(t, "even")
	default:
		if !l.Find {
			l.Users = target
		}
	}
	m := experiment.Measure{Duration: time.Duration(rapid.SampledFrom([]int{0, 10, 75}).Draw(t, "duration")) * time.Second}
	return l, m
}

func oneLine(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func drawService(t *rapid.T, name string) (experiment.DraftService, experiment.Service) {
	s := experiment.DraftService{
		Name:    name,
		Command: rapid.SliceOfN(anyText(), 1, 4).Draw(t, "command"),
		Dir:     filepath.Join("/", anyText().Draw(t, "dir")),
		Env:     make(map[string]*string),
		Ready:   experiment.Ready{Timeout: time.Duration(rapid.IntRange(1, 90).Draw(t, "ready")) * time.Second},
	}
	service := experiment.Service{Name: name, Command: slices.Clone(s.Command), Dir: s.Dir, Ready: s.Ready, Env: make(map[string]string)}
	variable := anyText().Filter(func(s string) bool { return s != "" && !strings.Contains(s, "=") })
	env := rapid.MapOfN(variable, anyText(), 0, 3).Draw(t, "env")
	for _, key := range slices.Sorted(maps.Keys(env)) {
		if value := env[key]; value == "" {
			s.Env[key] = nil
			service.Unset = append(service.Unset, key)
		} else {
			s.Env[key], service.Env[key] = &value, value
		}
	}
	switch rapid.IntRange(0, 2).Draw(t, "port") {
	case 0:
		s.FindPort, service.FindPort = true, true
	case 1:
		s.Port = rapid.IntRange(1, 65535).Draw(t, "number")
		service.Port = s.Port
	}
	if rapid.Bool().Draw(t, "metrics") {
		s.Metrics = &experiment.Metrics{Path: "/m", Dependency: rapid.StringMatching(`[a-zA-Z_:][a-zA-Z0-9_:]{0,8}`).Draw(t, "histogram")}
		service.Metrics = s.Metrics
	}
	if rapid.Bool().Draw(t, "without limit") {
		s.Limits.Memory = experiment.Null
	}
	return s, service
}

func TestADraftTellsItsPortFromLetters(t *testing.T) {
	for _, c := range []struct {
		name, word, want string
		takesPort        bool
	}{
		{"letters where the port is not taken", "${port} ${x}", "${port} ${x}", false},
		{"the port alone", "${port}", "8080", true},
		{"among letters", "-p${port}:${port}.", "-p8080:8080.", true},
		{"other names are letters", "${x}${port}${port:-1}", "${x}8080${port:-1}", true},
		{"letters of the port", "$${port}${port}", "${port}8080", true},
		{"a dollar before letters of the port", "$$${port}", "$${port}", true},
		{"a name's beginning before the port", "${${port}", "${8080", true},
		{"dollars", "$ $$ $x", "$ $$ $x", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := tried()
			d.Services = []experiment.DraftService{{
				Name: "s", Command: []string{"./s", c.word}, Env: map[string]*string{"A": &c.word}, TakesPort: c.takesPort,
			}}
			s := parse(t, string(d.YAML())).Cells[0].Service
			for _, text := range []string{s.Command[1], s.Env["A"]} {
				got, err := experiment.Expand(text, map[string]string{"port": "8080"})
				if err != nil || got != c.want {
					t.Errorf("%q became %q, %v, want %q", c.word, got, err, c.want)
				}
			}
		})
	}
}

func TestADraftsFolderIsWhole(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{
		{"", here}, {"sub", filepath.Join(here, "sub")}, {"/srv", "/srv"}, {"/srv/${x}", "/srv/${x}"},
	} {
		d := tried()
		d.Services[0].Dir = c.dir
		if got := parse(t, string(d.YAML())).Cells[0].Service.Dir; got != c.want {
			t.Errorf("dir %q became %q, want %q", c.dir, got, c.want)
		}
	}
}

func TestADraftOfEveryLoad(t *testing.T) {
	d := tried()
	d.Measure = experiment.Measure{Warmup: time.Second, Repeats: 2, Interval: 200 * time.Millisecond}
	for name, load := range map[string]experiment.Load{
		"requests": {Users: &experiment.Target{Value: 7}, Requests: 200, Agents: 2, Threads: 3, Connections: 5, Timeout: time.Minute},
		"stages": {Rate: &experiment.Target{Stages: []experiment.Stage{{Duration: 0, Target: 2.5}, {Duration: 90 * time.Second, Target: 7}}},
			Even: true, Agents: 1, Threads: 1, Timeout: 1500 * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			load.Request = experiment.Request{Method: "PUT", Path: "/{{uuid}}/${x}"}
			d.Load = load
			e := parse(t, string(d.YAML()))
			if diff := cmp.Diff(load, e.Cells[0].Load); diff != "" {
				t.Errorf("load (-want +got):\n%s", diff)
			}
			want := experiment.Measure{Warmup: time.Second, Duration: 20 * time.Second, Repeats: 2, Interval: 200 * time.Millisecond}
			if diff := cmp.Diff(want, e.Measure); diff != "" {
				t.Errorf("measure (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefusesWhatADraftCannotSay(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*experiment.Draft)
		want  string
	}{
		{"a name", func(d *experiment.Draft) { d.Name = "Try it" },
			`x.yaml:1:7: name: "Try it" is no name: use up to 63 lower-case letters, digits and inner hyphens`},
		{"a quantity", func(d *experiment.Draft) { d.Limits.Memory = "${m}" },
			`x.yaml:8:29: limits.memory: "${m}" is no quantity of memory; write it as 256Mi or 1Gi`},
		{"a zero byte", func(d *experiment.Draft) { d.Services[0].Command[0] = "a\x00b" },
			`x.yaml:5:15: services.as-it-is.command[0]: "a\x00b" holds a zero byte, which no program can be given`},
		{"not UTF-8", func(d *experiment.Draft) { d.Services[0].Command[0] = "caf\xe9" },
			`x.yaml:5:19: byte 0xe9 is not UTF-8; save the file as UTF-8`},
		{"no command", func(d *experiment.Draft) { d.Services[0].Command = nil },
			`x.yaml:5:14: services.as-it-is.command is empty`},
		{"no service", func(d *experiment.Draft) { d.Services = nil }, `x.yaml:3:11: services is empty`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := tried()
			d.Services = d.Services[:1]
			c.spoil(d)
			_, err := experiment.Parse("x.yaml", d.YAML(), nil)
			if err == nil {
				t.Fatal("no error")
			}
			if got, _, _ := strings.Cut(err.Error(), "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s\n%s", got, c.want, d.YAML())
			}
		})
	}
}
