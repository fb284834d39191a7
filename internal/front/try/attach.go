package try

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/front/probe"
	"github.com/millicore/millicore/internal/front/reach"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Running names a service that already runs.
type Running struct {
	PID       int    // 0: not by its process
	Container string // "": not by its container
	URL       string // "": the address is found
}

var hostPort = regexp.MustCompile(`^(\[[0-9a-fA-F:.]+\]|[^:/]+):\d+$`)

// ParseRunning reads the value of --attach, and the URL that may follow it as an argument.
func ParseRunning(word string, args []string) (Running, error) {
	var r Running
	switch pid, err := strconv.Atoi(word); {
	case word == "":
		return r, errors.New("--attach: want a process ID, the name of a container, or a URL")
	case err == nil && pid <= 0:
		return r, fmt.Errorf("--attach %s: want a process ID above 0", word)
	case err == nil:
		r.PID = pid
	case strings.Contains(word, "/") || strings.Count(word, ":") > 1 || hostPort.MatchString(word):
		r.URL = word
	default:
		r.Container = word
	}
	switch {
	case len(args) > 1:
		return r, fmt.Errorf("--attach starts no command: expected at most a URL, got %q", strings.Join(args, " "))
	case len(args) == 1 && r.URL != "":
		return r, fmt.Errorf("--attach %s is a URL: leave out %s", word, args[0])
	case len(args) == 1:
		r.URL = args[0]
	}
	return r, nil
}

// Name is the service in words, as the user named it.
func (r Running) Name() string {
	switch {
	case r.PID > 0:
		return fmt.Sprintf("process %d", r.PID)
	case r.Container != "":
		return "container " + r.Container
	}
	return r.URL
}

// Attached is a service that already runs, and what could be found of it.
type Attached struct {
	Target reach.Target
	Info   runtimes.Info // its PID is 0 if the process is not known
	reach.Observed
	// Unseen is why no process is observed, as a sentence; "": one is.
	Unseen string
	doubt  string // bad answers of the probe, in words
}

// Known reports whether its process is observed.
func (at *Attached) Known() bool { return at.Observed.Observed != nil }

// Settings are the experiment that searches its breaking point.
func (at *Attached) Settings(a *Ask) file.Settings {
	var s file.Settings
	s.Set("", "name", a.Name())
	s.Set("", "about", "Where "+at.Target.URL+" breaks, a service that ran already")
	service := "services." + asIs
	s.Set("", service, map[string]any{"command": []string{at.Target.URL}})
	s.Set("", service+".dir", a.Dir)
	l := at.limits()
	if l.CPUMillis > 0 {
		s.Set("", "limits.cpu", fmt.Sprintf("%dm", l.CPUMillis))
	}
	s.SetGiven("", "limits.memory", l.Memory)
	s.SetGiven("", "limits.period", l.Period)
	if at.Target.TLS {
		s.Set("", "load.protocol", "https")
	}
	a.search(&s)
	s.Set("", "server", map[string]any{"name": file.Raw(Describe(a, at.Info)), "settings": setups(at.Variants())})
	return s
}

// limits are those that its control group has.
func (at *Attached) limits() experiment.Limits {
	if !at.Known() {
		return experiment.Limits{}
	}
	return at.Observed.Limits()
}

// Variants are the service as it is.
func (at *Attached) Variants() []Variant {
	v := Variant{Service: asIs, Label: runtimes.AsItIs, Limits: at.limitWords()}
	if !at.Known() {
		v.unknownLimits = true
		v.Advice = at.Unseen + " So its limits, its CPU and its throttling are not known."
	}
	return []Variant{v}
}

// limitWords are its limits: "its limit of 500m CPU and 256 MiB of memory".
func (at *Attached) limitWords() string {
	if !at.Known() {
		return "limits that are not known"
	}
	l, shared := at.limits(), at.Shared()
	ask := Ask{}
	if l.CPUMillis > 0 {
		ask.CPU = experiment.CPUQuantity(l.CPUMillis)
	}
	if l.Memory > 0 {
		ask.Memory = strconv.FormatInt(l.Memory, 10)
	}
	words := limitWords(&ask)
	if shared != "" && l.CPUMillis > 0 {
		words += fmt.Sprintf(" (the CPU limit is that of %s, which others share)", shared)
	}
	return words
}

// Announce says what will be done, and which limit the service has.
func (at *Attached) Announce(a *Ask) string {
	var b strings.Builder
	if at.Known() {
		fmt.Fprintf(&b, "%s\n", Detected(a, at.Info))
	}
	fmt.Fprintf(&b, "%s under %s", cmp.Or(at.Observed.Name, "The service"), at.limitWords())
	fmt.Fprintf(&b, ", at %s\n", at.Target.URL)
	if !at.Known() {
		fmt.Fprintf(&b, "! %s Throttling is unknown.\n", at.Unseen)
	}
	if at.doubt != "" {
		fmt.Fprintf(&b, "! %s.\n", at.doubt)
	}
	b.WriteString("The search raises the load until the service misses the objective, and goes up to 3.4 times as high for some seconds. " +
		"It starts, stops and changes nothing.\n")
	return b.String()
}

// attachTo completes what is sent to a service: its path is that of the URL, and its header
// Host that of the URL unless it is set.
func (a *Ask) attachTo(t reach.Target, pathSet bool) error {
	a.Host = t.Host
	switch {
	case t.Path == "/":
	case a.Input != nil:
		return fmt.Errorf("%s has a path, and so have the requests of %s: leave out the path", t.URL, a.Input.Flag)
	case pathSet:
		return fmt.Errorf("%s has a path: leave it out, or leave out --get and --post", t.URL)
	default:
		a.Request.Path = t.Path
	}
	for name := range a.Request.Headers {
		if strings.EqualFold(name, "Host") {
			return nil
		}
	}
	if a.Request.Headers == nil {
		a.Request.Headers = map[string]string{}
	}
	a.Request.Headers["Host"] = t.Host
	return nil
}

// Attach finds a service that already runs: its address, its process and its limits. It
// sends single requests to ports of this machine at most. pathSet means that the path of
// the requests was set. Close ends the observation.
func Attach(ctx context.Context, r Running, a *Ask, pathSet bool) (*Attached, error) {
	at, pids := &Attached{}, []int(nil)
	var err error
	if r.PID > 0 || r.Container != "" {
		if pids, err = processesOf(ctx, r); err != nil {
			return nil, err
		}
	}
	url := r.URL
	if url == "" {
		address, err := addressOf(ctx, pids, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name(), err)
		}
		url = "http://" + address
	}
	if at.Target, err = reach.ParseTarget(url, net.LookupHost); err != nil {
		return nil, err
	}
	if err := a.attachTo(at.Target, pathSet); err != nil {
		return nil, err
	}
	if len(pids) == 0 {
		pids, at.Unseen = holdersOf(at.Target)
	}
	if len(pids) > 0 {
		err := at.observe(pids, r)
		switch {
		case err != nil && (r.PID > 0 || r.Container != ""):
			return nil, fmt.Errorf("%s: %w", r.Name(), err)
		case err != nil:
			at.Unseen = fmt.Sprintf("Its process could not be read: %v.", err)
		}
	}
	a.Command = []string{at.Target.URL}
	if at.Info.Program != "" {
		a.Command = []string{at.Info.Program}
	}
	return at, nil
}

// observe starts to observe the main process of several.
func (at *Attached) observe(pids []int, r Running) (err error) {
	if at.Info, err = runtimes.DetectTree(pids, 0); err != nil {
		return err
	}
	at.Name = fmt.Sprintf("Process %d", at.Info.PID)
	if r.Container != "" {
		at.Name += " of container " + r.Container
	}
	at.Observed, err = reach.Observe(at.Info.PID, at.Name)
	return err
}

// Begin asks a service a few times with the requests of the search's load, one after the
// other, and sets where the search begins unless that is set. The error says what the user
// can change.
func (at *Attached) Begin(ctx context.Context, l *experiment.Load, a *Ask) error {
	found, err := probe.Ask(ctx, at.Target.Address, l)
	if err == nil {
		err = found.Unusable()
	}
	switch {
	case err != nil && !at.Target.TLS && overTLS(ctx, at.Target.Address, err):
		return fmt.Errorf("it speaks TLS; write https://%s", at.Target.Address)
	case err != nil:
		return err
	}
	serverVersion(&at.Info, found.Server)
	at.doubt = found.Words()
	if a.First == 0 {
		a.First = Begin(found.Least, 0)
	}
	return objectiveBelow(found.Least, l, &a.Objective)
}
