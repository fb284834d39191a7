package experiment

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Doubt is something in an experiment that is valid and probably not what was meant.
type Doubt struct {
	Path  string // of the field, such as "limits.cpu"
	Text  string
	Wrong bool // it cannot be what was meant: do not start the run
}

func (d Doubt) String() string { return d.Path + ": " + d.Text }

// Doubts are what is implausible in an experiment on a host with this number of CPUs; 0:
// it is not known. Each doubt is listed once, regardless of the number of cells.
func (e *Experiment) Doubts(cpus int) []Doubt {
	all := e.axisDoubts()
	for i := range e.Cells {
		c := &e.Cells[i]
		all = append(all, limitDoubts(c, cpus)...)
		all = append(all, envDoubts(&c.Service)...)
	}
	var distinct []Doubt
	for _, d := range all {
		if !slices.Contains(distinct, d) {
			distinct = append(distinct, d)
		}
	}
	return distinct
}

// manyCPUs is the number from which a limit above the host's CPUs was probably meant in
// thousandths of a CPU.
const manyCPUs = 50

// limitDoubts finds a CPU limit that the host cannot reach.
func limitDoubts(c *Cell, cpus int) []Doubt {
	limit := c.Limits.CPUMillis
	if cpus == 0 || limit <= int64(cpus)*1000 {
		return nil
	}
	d := Doubt{Path: "limits.cpu", Text: fmt.Sprintf("a limit of %s on a host with %s has no effect", inCPUs(limit), inCPUs(int64(cpus)*1000))}
	if limit%1000 == 0 && limit >= manyCPUs*1000 {
		d.Wrong = true
		d.Text = fmt.Sprintf("a limit of %s on a host with %s; did you mean %dm, thousandths of a CPU?", inCPUs(limit), inCPUs(int64(cpus)*1000), limit/1000)
	}
	return []Doubt{d}
}

// inCPUs writes thousandths of a CPU: "2 CPUs", "2500m CPUs".
func inCPUs(millis int64) string {
	switch {
	case millis == 1000:
		return "1 CPU"
	case millis%1000 == 0:
		return fmt.Sprintf("%d CPUs", millis/1000)
	}
	return fmt.Sprintf("%dm CPUs", millis)
}

var (
	numeric = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([a-zA-Z%]{0,2})$`)
	// absent are words for no value, which YAML writes as null.
	absent = []string{"none", "no", "nil", "unset", "off", "unlimited", "undefined", "default", "~", ""}
)

// axisDoubts finds a word for no value among numbers: the service gets the word.
func (e *Experiment) axisDoubts() []Doubt {
	var all []Doubt
	for _, axis := range e.Vary {
		word, numbers, others := "", 0, 0
		for _, v := range axis.Values {
			switch {
			case v == nil:
			case slices.Contains(absent, strings.ToLower(*v)):
				word = *v
				others++
			case numeric.MatchString(*v):
				numbers++
			default:
				others += 2
			}
		}
		if numbers > 0 && others == 1 {
			all = append(all, Doubt{Path: "vary." + axis.Name, Text: fmt.Sprintf("%q among numbers is passed to the service as a word; null leaves the value unset", word)})
		}
	}
	return all
}

// runtimeEnv are variables that one runtime reads.
var runtimeEnv = map[string]string{
	"GOMAXPROCS": "Go", "GOMEMLIMIT": "Go", "GOGC": "Go",
	"UV_THREADPOOL_SIZE": "Node.js", "NODE_OPTIONS": "Node.js",
	"JAVA_TOOL_OPTIONS": "Java", "JDK_JAVA_OPTIONS": "Java",
	"TOKIO_WORKER_THREADS": "Tokio (Rust)", "RAYON_NUM_THREADS": "Rayon (Rust)",
}

// runtimePrograms are programs that run a runtime and never read another one's variables.
var runtimePrograms = map[string]string{
	"node": "Node.js", "nodejs": "Node.js", "bun": "Bun", "deno": "Deno", "java": "Java", "python": "Python",
	"gunicorn": "Python", "uvicorn": "Python", "ruby": "Ruby", "puma": "Ruby", "php": "PHP", "php-fpm": "PHP",
	"nginx": "nginx", "dotnet": ".NET",
}

// parallelism is what takes the place of GOMAXPROCS in other runtimes.
var parallelism = map[string]string{
	"Node.js": "Node.js runs JavaScript in one thread: use limits.replicas, or its cluster module",
	"Bun":     "Bun runs JavaScript in one thread: use limits.replicas",
	"Deno":    "Deno runs JavaScript in one thread: use limits.replicas",
	"Java":    "use JAVA_TOOL_OPTIONS: -XX:ActiveProcessorCount=N",
	"Python":  "use the number of workers, such as WEB_CONCURRENCY",
	"Ruby":    "use the number of workers, such as WEB_CONCURRENCY",
	"nginx":   "use worker_processes",
	".NET":    "use DOTNET_PROCESSOR_COUNT",
}

// versionAtEnd is what a program's name may have behind it: python3.12, php-fpm8.2.
var versionAtEnd = regexp.MustCompile(`[0-9.]+$`)

// envDoubts finds variables of a runtime that is not the service's.
func envDoubts(s *Service) []Doubt {
	runtime := map[string]string{"go": "Go", "node": "Node.js", "bun": "Bun"}[s.Workload]
	if len(s.Command) > 0 {
		runtime = runtimePrograms[versionAtEnd.ReplaceAllString(filepath.Base(s.Command[0]), "")]
	}
	if runtime == "" {
		return nil
	}
	var all []Doubt
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		of, known := runtimeEnv[name]
		if !known || of == runtime || strings.HasPrefix(name, "NODE_") && runtime == "Bun" {
			continue
		}
		d := Doubt{Path: fmt.Sprintf("services.%s.env.%s", s.Name, name), Text: fmt.Sprintf("it is a setting of %s and has no effect on %s", of, runtime)}
		if name == "GOMAXPROCS" && parallelism[runtime] != "" {
			d.Text += "; " + parallelism[runtime]
		}
		all = append(all, d)
	}
	return all
}
