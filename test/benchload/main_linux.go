package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

type options struct {
	rounds, openRounds, seconds int
	client, server              int
	parts, tools, agents        string
	programs, peers, out        string
	bounds                      bounds
	await                       time.Duration
}

func main() {
	if text := os.Getenv(asFreezing); text != "" {
		exit(freezing(text))
	}
	var o options
	cache, _ := os.UserCacheDir()
	flag.IntVar(&o.rounds, "rounds", 5, "how often each tool runs in the closed loop")
	flag.IntVar(&o.openRounds, "open-rounds", 0, "how often in the open loop and with other protocols (default: 3, or -rounds if that is fewer)")
	flag.IntVar(&o.seconds, "seconds", 4, "how long a run is")
	flag.IntVar(&o.client, "client-cpu", 0, "CPU of the tools")
	flag.IntVar(&o.server, "server-cpu", 1, "CPU of what they load")
	flag.StringVar(&o.parts, "parts", strings.Join(parts, ","), "what is measured")
	flag.StringVar(&o.tools, "tools", "", "only tools of these names, separated by commas (default: all)")
	flag.StringVar(&o.agents, "agents", "", "other builds of the agent, to compare in the same rounds: new=/path/to/agent,…")
	flag.StringVar(&o.programs, "programs", "bin", "folder of Millicore's programs")
	flag.StringVar(&o.peers, "peers", filepath.Join(cache, "millicore", "peers", "bin"), "folder of peers that are not in PATH")
	flag.StringVar(&o.out, "out", "bin/bench-load", "folder for the tables and all figures")
	flag.Float64Var(&o.bounds.Steal, "steal", 0.02, "cores that the hypervisor may take before a run is marked")
	flag.Float64Var(&o.bounds.Foreign, "foreign", 0.1, "cores that other processes may use before a run is marked")
	flag.DurationVar(&o.await, "await", 5*time.Second, "how long to wait before each run for others to use less than that")
	flag.Parse()
	if o.openRounds == 0 {
		o.openRounds = min(3, o.rounds)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(measure(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-load:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// parts are what can be measured.
var parts = []string{"closed", "protocols", "open", "fast", "memory", "freeze", "allocations"}

// bench is a running measurement.
type bench struct {
	options
	ctx      context.Context
	programs map[string]string // paths by name; those that are not there are missing
	versions map[string]string
	dir      string // for what is needed only as long as it runs
	runs     []run
	notes    []string
	all      int // how many runs there will be
}

func measure(ctx context.Context, o options) error {
	if cpus := runtime.NumCPU(); o.client == o.server || o.client < 0 || o.server < 0 || cpus < 2 {
		return fmt.Errorf("the tools (CPU %d) and what they load (CPU %d) need a CPU each; this machine lets it have %d", o.client, o.server, cpus)
	}
	if o.rounds < 1 || o.seconds < 2 {
		return errors.New("want at least one round, and at least 2 seconds, of which the first is not settled yet")
	}
	for _, part := range strings.Split(o.parts, ",") {
		if !slices.Contains(parts, part) {
			return fmt.Errorf("-parts: there is no %q: %s", part, strings.Join(parts, ", "))
		}
	}
	dir, err := os.MkdirTemp("", "millicore-bench-load-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{options: o, ctx: ctx, dir: dir, programs: map[string]string{}, versions: map[string]string{}}
	if err := b.find(); err != nil {
		return err
	}
	began := time.Now()
	before, err := host()
	if err != nil {
		return err
	}
	if err := b.measureAll(); err != nil {
		return err
	}
	after, err := host()
	if err != nil {
		return err
	}
	took := time.Since(began)
	facts := machine()
	facts.Took, facts.Steal = took, share(after.Steal-before.Steal, took)
	return b.write(os.Stdout, facts)
}

// want reports whether a part was requested.
func (b *bench) want(part string) bool { return slices.Contains(strings.Split(b.parts, ","), part) }

// job is a planned run.
type job struct {
	what  string
	round int
	tool  tool
	load  load
}

// these keeps the tools that are installed and requested.
func (b *bench) these(all ...tool) (kept []tool) {
	for _, t := range all {
		if b.programs[t.Program] != "" && (b.tools == "" || slices.Contains(strings.Split(b.tools, ","), t.Name)) {
			kept = append(kept, t)
		}
	}
	return kept
}

// others are additional builds of the agent.
func (b *bench) others() (all []tool, err error) {
	if b.agents == "" {
		return nil, nil
	}
	for _, one := range strings.Split(b.agents, ",") {
		name, path, ok := strings.Cut(one, "=")
		if !ok {
			return nil, fmt.Errorf("-agents: %q: write it as name=path", one)
		}
		if b.programs[path], err = exec.LookPath(path); err != nil {
			return nil, fmt.Errorf("-agents: %w", err)
		}
		all = append(all, tool{Name: name, Program: path, Talks: true})
	}
	return all, nil
}

// flatAfter is how many seconds of Millicore's agent show whether its memory grows:
// it lets garbage gather for some 25 at first.
const flatAfter = 60

func (b *bench) measureAll() error {
	const connections = 64
	others, err := b.others()
	if err != nil {
		return err
	}
	closed := b.these(append(others, agentAlone, wholeLoad, wrk, h2load, oha, fortio)...)
	open := b.these(append(others, agentAlone, wholeLoad, h2load, ohaCorrected, fortio)...)
	var rounds [][]job
	for r := range max(b.rounds, b.openRounds) {
		var these []job
		if b.want("closed") && r < b.rounds {
			for _, t := range closed {
				these = append(these, job{closedLoop, r, t, load{Seconds: b.seconds, Connections: connections}})
			}
		}
		for i := range protocols {
			if !b.want("protocols") || r >= b.openRounds || protocols[i].Speaks == grpc && b.programs["fortio"] == "" {
				continue
			}
			for _, t := range b.these(protocols[i].Tools...) {
				these = append(these, job{protocols[i].Name, r, t, protocols[i].load(b.seconds)})
			}
		}
		for _, rate := range rates {
			if !b.want("open") || r >= b.openRounds {
				continue
			}
			for _, t := range open {
				these = append(these, job{openLoop(rate), r, t, load{Seconds: b.seconds, Connections: connections, Rate: rate, Even: true}})
			}
			for _, t := range b.these(poisson) {
				these = append(these, job{openLoop(rate), r, t, load{Seconds: b.seconds, Connections: connections, Rate: rate}})
			}
		}
		if b.want("fast") && r < b.openRounds {
			for _, t := range b.these(agentAlone) {
				these = append(these, job{asFast, r, t, load{Seconds: b.seconds, Connections: connections, Rate: 100_000, Even: true}})
			}
		}
		rounds = append(rounds, shuffled(these, r))
	}
	if b.want("memory") {
		var these []job
		for _, t := range closed {
			length := b.seconds
			if t.Talks {
				length = max(length, flatAfter)
			}
			these = append(these, job{manyIdle, 0, t, load{Seconds: length, Connections: 1000}})
		}
		rounds = append(rounds, these)
	}
	for _, r := range rounds {
		b.all += len(r)
	}
	frozen := b.freezeJobs()
	b.all += len(frozen)

	nginx, err := startNginx(b.ctx, b.programs["nginx"], b.dir, b.server)
	if err != nil {
		return err
	}
	defer nginx.end()
	calls := nginx
	if b.want("protocols") && b.programs["fortio"] != "" {
		if calls, err = startFortio(b.ctx, b.programs["fortio"], b.server); err != nil {
			return err
		}
		defer calls.end()
	}
	for _, jobs := range rounds {
		for _, j := range jobs {
			t := nginx
			if j.load.Speaks == grpc {
				t = calls
			}
			if err := b.do(j, t); err != nil {
				return err
			}
		}
	}
	if b.want("allocations") {
		if err := b.allocations(nginx); err != nil {
			return err
		}
	}
	for _, j := range frozen {
		if err := b.doFreeze(j); err != nil {
			return err
		}
	}
	return nil
}

// do makes a run and keeps its result. A failure of a tool is a result, not an error.
func (b *bench) do(j job, t *target) error {
	r, err := b.run(j, t)
	if err != nil {
		return err
	}
	b.keep(r)
	return nil
}

func (b *bench) keep(r run) {
	b.runs = append(b.runs, r)
	fmt.Fprintf(os.Stderr, "[%d/%d] %s\n", len(b.runs), b.all, line(&r, b.bounds))
}

// patience is how much longer than requested a tool may run.
const patience = 60 * time.Second

// run makes a run. A failure is recorded in the run; an error ends the benchmark.
func (b *bench) run(j job, t *target) (run, error) {
	j.load = t.at(j.load)
	r := run{Case: j.what, Round: j.round, Tool: j.tool.Name, Load: j.load}
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(b.ctx, time.Duration(j.load.Seconds)*time.Second+patience)
	defer cancel()
	program := b.programs[j.tool.Program]
	var args []string
	if !j.tool.Talks {
		if args, err = j.tool.Args(j.load, dir); err != nil {
			return r, err
		}
	}
	if err := b.quiet(t); err != nil {
		return r, err
	}
	before, err := b.readings(t)
	if err != nil {
		return r, err
	}
	p, in, out, err := startProcess(ctx, b.client, j.tool.Talks, program, args...)
	if err != nil {
		return r, fmt.Errorf("start %s: %w", program, err)
	}
	var said error
	if j.tool.Talks {
		r.report, said = talk(ctx, in, out, j.load)
		if said != nil {
			cancel()
		}
	}
	r.used, err = p.wait()
	if b.ctx.Err() != nil {
		return r, errInterrupted
	}
	after, err2 := b.readings(t)
	if err2 != nil {
		return r, err2
	}
	r.Steal = share(after.host.Steal-before.host.Steal, r.Took)
	ours := r.CPU + after.target - before.target + after.self - before.self
	r.Foreign = max(0, share(after.host.Busy-before.host.Busy-ours, r.Took))
	if err = errors.Join(said, err); err == nil && !j.tool.Talks {
		r.report, err = j.tool.Read(p.out.Bytes(), dir, func(program string, args ...string) ([]byte, error) {
			return command(ctx, b.programs[program], args...).Output()
		})
	}
	switch {
	case err != nil:
		r.Failure = err.Error()
	case r.Good == 0:
		r.Failure = "no good answer"
	}
	return r, nil
}

// write writes the tables to w and, with all figures, to the folder.
func (b *bench) write(w io.Writer, facts facts) error {
	text := tables(b.runs, b.notes, b.versions, facts, b.bounds)
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	figures, err := json.MarshalIndent(b.runs, "", " ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return errors.Join(err,
		os.WriteFile(filepath.Join(b.out, "tables.md"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(b.out, "runs.json"), append(figures, '\n'), 0o644))
}

// find finds all programs. Only nginx and Millicore's own are required.
func (b *bench) find() error {
	for _, name := range []string{"millicore", "millicore-agent"} {
		path, err := exec.LookPath(filepath.Join(b.options.programs, name))
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return fmt.Errorf("%w; `make build` makes it", err)
		}
		b.programs[name] = path
	}
	for _, name := range []string{"nginx", "wrk", "h2load", "oha", "fortio", "hey", "ghz"} {
		for _, place := range []string{filepath.Join(b.peers, name), name, filepath.Join("/usr/sbin", name)} {
			if path, err := exec.LookPath(place); err == nil {
				b.programs[name], b.versions[name] = path, version(name, path)
				break
			}
		}
		if b.programs[name] == "" {
			b.notes = append(b.notes, name+" is not installed, and left out.")
		}
	}
	if b.programs["nginx"] == "" {
		return errors.New("nginx is not installed: test/benchload/install.sh installs it, and the peers")
	}
	b.versions["millicore"] = version("millicore", b.programs["millicore"])
	return nil
}
