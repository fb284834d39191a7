// Package try turns the command line of a server into experiments that find where it
// breaks under a limit: as it is, with its runtime's parallelism set to each sensible
// value, and once without the limit.
//
// It conducts no trial (package lab), ranks nothing (package analysis) and writes only
// the list of what will be tried; the answer is worded by package narrative.
package try

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/front/compose"
	"github.com/millicore/millicore/internal/front/inputs"
	"github.com/millicore/millicore/internal/front/traffic"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/load/reflection"
)

// Ask are the flags of `millicore try`.
type Ask struct {
	Command     []string          // of an image its ENTRYPOINT and arguments, once it is known
	Image       *Image            // in place of a command of this machine; nil: there is none
	Against     []string          // the command before a change, which Command is held against; nil: there is none
	Compose     *compose.Project  // whose service Image is of; nil: of no compose file
	composeFrom any               // its files as the experiment is saved; nil: it is not
	Old         *Image            // the image before a change, of which Against is the command then; nil: there is none
	Dir         string            // working folder
	Env         map[string]string // the caller's settings that change how runtimes behave; the lab keeps no others of their kind
	CPU         string            // quantity; "" for none
	CPUs        []string          // several limits, each in place of CPU; fewer than two: CPU is the only one
	Memory      string            // likewise
	PIDs        int               // limit of processes and threads; 0: the default
	Port        int               // 0: ${port} where the command has it, else it is found
	Ready       experiment.Ready
	// ReadyTimeoutSet: the user set the time to be ready. Otherwise it follows from the start.
	ReadyTimeoutSet bool
	Request         experiment.Request
	Input           *inputs.Input // the requests, in place of Request but for its headers; nil: none
	Host            string        // whose requests of Input are sent; "": that with most of them
	Calls           traffic.Calls // of gRPC, in place of Request's path
	Timeout         time.Duration
	Objective       experiment.Objective
	Users           bool          // search users instead of a rate
	First           float64       // where a search for a rate begins; 0: the default
	Traffic         time.Duration // of a search at most; 0: the default
	Repeats         int           // searches of each variant; 0: the default
	Neighbour       string        // CPUs that a busy neighbour uses, as a quantity; "": there is none
	Profile         bool
	AsIsOnly        bool   // no other settings, no replicas, no run without the limit
	User            string // of the server; "": the default
	Server          string // what Describe says of it; "": it has not run yet
}

// program is the name of the server's program: what env starts, if the command only sets
// variables with it. An image has its own name, and so has a service of a compose file.
func (a *Ask) program() string {
	switch {
	case a.Compose != nil:
		return a.Compose.Service.Name
	case a.Image != nil:
		return a.Image.short()
	}
	words := a.Command
	if filepath.Base(words[0]) == "env" {
		isNoVariable := func(word string) bool { return !strings.Contains(word, "=") }
		if i := 1 + slices.IndexFunc(words[1:], isNoVariable); i > 0 && !strings.HasPrefix(words[i], "-") {
			return filepath.Base(words[i])
		}
	}
	return filepath.Base(words[0])
}

// Name is the experiment's: "try-nginx".
func (a *Ask) Name() string {
	if name := serviceName(a.program()); name != "" {
		return "try-" + name
	}
	return "try"
}

// Settings are the experiment that searches the breaking points of the variants,
// except those that have no effect, and then compares their latencies at one load.
// Errors name the flags of `millicore try`.
func (a *Ask) Settings(variants []Variant) file.Settings {
	command := "the command"
	if a.Compose != nil {
		command = "--compose"
	}
	var s file.Settings
	s.Set("", "name", a.Name())
	s.Set(command, "about", file.Raw(a.about()))
	if a.Image != nil && a.Image.HostNetwork {
		s.Set("--network", "docker.network", "host")
	}
	for _, v := range variants {
		if v.NoEffect == "" {
			one := a.starting(&v)
			s.Set(command, "services."+v.Service, one.starts(v))
			one.service(&s, v, "services."+v.Service+".")
		}
	}
	a.limits(&s)
	a.search(&s)
	if compared(variants) {
		s.Set("", "measure.common_load", map[string]any{"repeats": a.compareTrials(), "duration": compareTime})
	}
	if a.Server != "" {
		s.Set(command, "server", map[string]any{"name": file.Raw(a.Server), "settings": setups(variants)})
	}
	return s
}

// about says what the experiment is about.
func (a *Ask) about() string {
	line := strings.Join(secret.Words(written(a.Image, a.Command)), " ")
	if a.Compose != nil {
		line = a.Compose.Service.Name + " of " + filepath.Base(a.Compose.Files[0])
	}
	if a.Against != nil {
		return "What changes from " + strings.Join(secret.Words(written(a.Old, a.Against)), " ") + " to " + line
	}
	return "Where " + line + " breaks"
}

// written is what the user wrote to be started: an image with its arguments, or a command.
func written(i *Image, command []string) []string {
	if i != nil {
		return append([]string{i.Name}, i.Args...)
	}
	return command
}

// starts are the keys of a service that say what is started for a variant.
func (a *Ask) starts(v Variant) map[string]any {
	keys := map[string]any{}
	if all := a.neighbour(); len(all) > 0 {
		keys["dependencies"] = all
	}
	if a.Image == nil {
		keys["command"] = a.texts(a.Command)
		return keys
	}
	keys["image"] = a.Image.Name
	if args := a.Image.argsOf(v); len(args) > 0 {
		keys["args"] = a.texts(args)
	}
	if len(a.Image.Volumes) > 0 {
		keys["volumes"] = a.Image.Volumes
	}
	if a.Compose != nil {
		return a.composed(keys)
	}
	return keys
}

// search sets what is sent, and the search.
func (a *Ask) search(s *file.Settings) {
	a.request(s)
	switch {
	case a.Users:
		s.Set("--users", "load.users", 1)
	case a.First > 0:
		s.Set("--start-rate", "load.rate", a.First)
	}
	s.Set("", "load.find", "breaking-point")
	s.SetGiven("--timeout", "load.timeout", a.Timeout)
	s.SetGiven("--traffic", "measure.duration", a.Traffic)
	if o := a.Objective; o.Quantile != "" {
		s.Set("--"+o.Quantile, "objective."+o.Quantile, o.Latency)
	}
	s.SetGiven("--availability", "objective.availability", a.Objective.Availability)
	s.SetGiven("--profile", "profile", a.Profile)
	s.SetGiven("--repeats", "measure.repeats", a.Repeats)
}

// compareTime is the length of a trial at the common load. The user waits for them.
const compareTime = 3 * time.Second

// compareTrials are the trials of each variant at the common load: the fewest that can rank
// two of them, or as many as show a small change.
func (a *Ask) compareTrials() int {
	if a.Against != nil {
		return againstTrials + max(0, a.Repeats-summary.EnoughTrials)
	}
	return 4
}

// compared reports whether there are latencies to compare: two variants are searched.
func compared(variants []Variant) bool {
	searched := 0
	for _, v := range variants {
		if v.NoEffect == "" {
			searched++
		}
	}
	return searched > 1
}

// setups declare the variants as the settings of one server.
func setups(variants []Variant) []any {
	all := make([]any, len(variants))
	for i, v := range variants {
		one := map[string]any{"label": file.Raw(v.Label)}
		if v.NoEffect == "" {
			one["service"] = v.Service
		} else {
			one["no_effect"] = file.Raw(v.NoEffect)
		}
		if v.Service == oldService {
			one["before"] = true
		}
		if v.Found > 0 {
			one["parallelism"] = v.Found
		}
		if v.unknownLimits {
			one["unknown_limits"] = true
		}
		if v.Advice != "" {
			one["advice"] = file.Raw(v.Advice)
		}
		all[i] = one
	}
	return all
}

// service sets a variant's service, but for its command.
func (a *Ask) service(s *file.Settings, v Variant, at string) {
	if a.Image == nil {
		dir := a.Dir
		if whole, err := filepath.Abs(dir); err == nil { // the file may be saved anywhere
			dir = whole
		}
		s.Set("", at+"dir", dir)
	}
	env := map[string]any{}
	for _, some := range []map[string]string{a.Env, v.Env} {
		for name, value := range some {
			env[name] = a.text(value)
		}
	}
	s.SetGiven("the environment", at+"env", env)
	switch {
	case a.Port != 0 && a.Port == a.Compose.Port(): // the file has it
	case a.Port != 0:
		s.Set("--port", at+"port", a.Port)
	case a.fixedPort() != 0:
		s.Set("", at+"port", a.fixedPort())
	case !a.takesPort() && v.Replicas < 2: // replicas are given a port each, by ${port} or PORT
		s.Set("", at+"port", "find")
	}
	s.SetGiven("--user", at+"user", a.User)
	if a.Calls.Health {
		s.Set("--health", at+"ready", reflection.HealthPath)
	}
	s.SetGiven("--ready", at+"ready", a.Ready.Path)
	s.SetGiven("--ready-timeout", at+"ready_timeout", a.Ready.Timeout)
	switch {
	case v.CPU != "":
		s.Set("--cpu", at+"limits.cpu", v.CPU)
	case v.Unlimited:
		s.Set("", at+"limits.cpu", nil)
	}
	s.SetGiven("--cpu", at+"limits.request", v.Request)
	if v.Replicas > 1 {
		s.Set("", at+"limits.replicas", v.Replicas)
	}
}

// request sets what is sent.
func (a *Ask) request(s *file.Settings) {
	if a.Input != nil {
		a.Input.Set(s, a.Host, a.Request.Headers, nil)
		return
	}
	r, flag := &a.Request, "--get"
	if r.Method == "POST" {
		flag = "--post"
	}
	if r.GRPC != "" {
		calls := a.Calls
		calls.Absolute() // the file may be saved anywhere
		calls.Request(s)
	} else {
		s.SetGiven("", "load.request.method", r.Method)
		s.SetGiven(flag, "load.request.path", r.Path)
	}
	s.SetGiven("--header", "load.request.headers", r.Headers)
	s.SetGiven("--body", "load.request.body", r.Body)
	s.SetGiven("--body", "load.request.body_file", r.BodyFile)
}

// text is a word of the command, or a variable: letters, but for ${port} where
// the server takes a port.
func (a *Ask) text(word string) any {
	if a.takesPort() {
		return file.Raw(experiment.WithPort(word))
	}
	return word
}

func (a *Ask) texts(words []string) []any {
	all := make([]any, len(words))
	for i, word := range words {
		all[i] = a.text(word)
	}
	return all
}

// takesPort reports whether the command, or the environment that it is run in,
// names the port that it is given.
func (a *Ask) takesPort() bool {
	named := func(text string) bool { return strings.Contains(text, "${port}") }
	return slices.ContainsFunc(a.Command, named) || slices.ContainsFunc(slices.Collect(maps.Values(a.Env)), named)
}

// Begin is the rate at which a search begins, from the shortest time that a request took
// and the rate of good answers in a closed loop of a few users (0: not known). It is a
// twentieth of the rate of one request after the other, or an eighth of that of the closed
// loop, which the server can hold whatever makes it slow: the higher one. Each doubling of
// a search takes seconds, and a search that begins too high comes down.
func Begin(least time.Duration, rate float64) float64 {
	const lowest, highest = 5, 2000
	if least <= 0 {
		return highest
	}
	return math.Round(min(max(0.05/least.Seconds(), rate/8, lowest), highest))
}

// Caller returns the variables of an environment that change how runtimes behave, so
// that a server is tried as its caller would run it.
func Caller(environ []string) map[string]string {
	kept := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && runtimes.IsEnvKnob(name) {
			kept[name] = value
		}
	}
	return kept
}
