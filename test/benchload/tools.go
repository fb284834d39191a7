package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// load is what a tool is asked for.
type load struct {
	URL         string
	Addr        string // of its host and port
	Seconds     int
	Connections int
	Rate        int  // requests a second; 0: a closed loop
	Even        bool // of Millicore's: requests at even distances, as the peers' are
}

// tool is a generator. Its programs are looked for by name.
type tool struct {
	Name    string
	Program string
	// Args are its arguments; it may write files into a folder of its own.
	Args func(l load, dir string) ([]string, error)
	// Read reads what it said and left in its folder. run runs another program,
	// whose cost is not counted.
	Read func(out []byte, dir string, run func(program string, args ...string) ([]byte, error)) (report, error)
	// Talks: it is an agent, which gets its commands while it runs. It has no Args and
	// no Read.
	Talks bool
	// Unlimited: it opens a connection for each request in flight.
	Unlimited bool
}

// self is Millicore's generator without the lab. base is the tool that the others are
// compared with.
const (
	self = "millicore-agent"
	base = "wrk"
)

func text(read func([]byte) (report, error)) func([]byte, string, func(string, ...string) ([]byte, error)) (report, error) {
	return func(out []byte, _ string, _ func(string, ...string) ([]byte, error)) (report, error) {
		return read(out)
	}
}

var agentAlone = tool{Name: self, Program: "millicore-agent", Talks: true}

// poisson is the same with arrivals at random, which is what users do; its peers know
// even ones only.
var poisson = tool{Name: self + " (Poisson)", Program: agentAlone.Program, Talks: true}

// wholeLoad is the lab and the agent that it starts, with the record that they
// keep and its analysis.
var wholeLoad = tool{Name: "millicore load", Program: "millicore", Read: text(readMillicore),
	Args: func(l load, _ string) ([]string, error) {
		args := []string{"load", "--json", "--yes", "-d", seconds(l)}
		if l.Rate == 0 {
			args = append(args, "-c", fmt.Sprint(l.Connections))
		} else {
			args = append(args, "-R", fmt.Sprint(l.Rate), "--connections", fmt.Sprint(l.Connections))
		}
		if l.Even {
			args = append(args, "--even")
		}
		return append(args, l.URL), nil
	}}

var wrk = tool{Name: base, Program: "wrk", Read: text(readWrk),
	Args: func(l load, _ string) ([]string, error) {
		return []string{"-t1", connections(l), "-d" + seconds(l), "--latency", l.URL}, nil
	}}

var ab = tool{Name: "ab", Program: "ab", Read: text(readAb),
	Args: func(l load, _ string) ([]string, error) {
		// -t alone means 50,000 requests at most; -n after it lifts that, and
		// sets how much memory it takes at first.
		return []string{"-k", "-q", connections(l), fmt.Sprintf("-t%d", l.Seconds), "-n", fmt.Sprint(l.Seconds * 250_000), l.URL}, nil
	}}

// h2load speaks HTTP/2 by default, and its rate is per connection. Its quantiles are
// available only from its log, which costs little.
var h2load = tool{Name: "h2load", Program: "h2load",
	Args: func(l load, dir string) ([]string, error) {
		args := []string{"--h1", "-t1", connections(l), "-D", fmt.Sprint(l.Seconds)}
		if l.Rate > 0 {
			args = append(args, fmt.Sprintf("--rps=%g", float64(l.Rate)/float64(l.Connections)), "--log-file="+filepath.Join(dir, "log"))
		}
		return append(args, l.URL), nil
	},
	Read: func(out []byte, dir string, _ func(string, ...string) ([]byte, error)) (report, error) {
		log, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil && !os.IsNotExist(err) {
			return report{}, err
		}
		return readH2load(out, log)
	}}

// hey's rate is of a worker.
var hey = tool{Name: "hey", Program: "hey", Read: text(readHey),
	Args: func(l load, _ string) ([]string, error) {
		args := []string{"-z", seconds(l), "-c", fmt.Sprint(l.Connections)}
		if l.Rate > 0 {
			args = append(args, "-q", fmt.Sprintf("%g", float64(l.Rate)/float64(l.Connections)))
		}
		return append(args, l.URL), nil
	}}

var bombardier = tool{Name: "bombardier", Program: "bombardier", Read: text(readBombardier),
	Args: func(l load, _ string) ([]string, error) {
		args := []string{"-c", fmt.Sprint(l.Connections), "-d", seconds(l), "-t", "10s", "-l", "-p", "r", "-o", "json"}
		if l.Rate > 0 {
			args = append(args, "-r", fmt.Sprint(l.Rate))
		}
		return append(args, l.URL), nil
	}}

// oha corrects its latencies for late requests only with an option.
var oha = tool{Name: "oha", Program: "oha", Read: text(readOha),
	Args: func(l load, _ string) ([]string, error) {
		args := []string{"--no-tui", "--output-format", "json", "-c", fmt.Sprint(l.Connections), "-z", seconds(l)}
		if l.Rate > 0 {
			args = append(args, "-q", fmt.Sprint(l.Rate))
		}
		return append(args, l.URL), nil
	}}

var ohaCorrected = tool{Name: "oha --latency-correction", Program: oha.Program, Read: oha.Read,
	Args: func(l load, dir string) ([]string, error) {
		args, err := oha.Args(l, dir)
		return append([]string{"--latency-correction"}, args...), err
	}}

// vegeta writes its results down, and another command of it makes the report,
// which is not counted.
func vegetaArgs(l load, dir string, workers ...string) ([]string, error) {
	targets := filepath.Join(dir, "targets")
	args := []string{"attack", "-targets", targets, "-rate", fmt.Sprint(l.Rate), "-duration", seconds(l), "-output", filepath.Join(dir, "results")}
	return append(args, workers...), os.WriteFile(targets, []byte("GET "+l.URL+"\n"), 0o600)
}

var vegeta = tool{Name: "vegeta", Program: "vegeta",
	Args: func(l load, dir string) ([]string, error) {
		n := fmt.Sprint(l.Connections)
		return vegetaArgs(l, dir, "-workers", n, "-max-workers", n, "-connections", n)
	},
	Read: func(_ []byte, dir string, run func(string, ...string) ([]byte, error)) (report, error) {
		out, err := run("vegeta", "report", "-type", "json", filepath.Join(dir, "results"))
		if err != nil {
			return report{}, err
		}
		return readVegeta(out)
	}}

var vegetaUnlimited = tool{Name: "vegeta, any number of workers", Program: vegeta.Program, Read: vegeta.Read, Unlimited: true,
	Args: func(l load, dir string) ([]string, error) {
		return vegetaArgs(l, dir, "-workers", fmt.Sprint(l.Connections))
	}}

// k6 needs a script. By default it reports each run to its makers and listens on a port.
func k6Args(l load, users int, dir string) ([]string, error) {
	scenario := fmt.Sprintf("executor: 'constant-vus', vus: %d, duration: '%s'", users, seconds(l))
	if l.Rate > 0 {
		scenario = fmt.Sprintf("executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s', duration: '%s', preAllocatedVUs: %d, maxVUs: %d", l.Rate, seconds(l), users, users)
	}
	script := fmt.Sprintf(`import http from 'k6/http';
export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['p(50)', 'p(95)', 'p(99)'],
  scenarios: { one: { %s } },
};
export default function () { http.get('%s'); }
`, scenario, l.URL)
	file := filepath.Join(dir, "script.js")
	return []string{"run", "--no-usage-report", "--quiet", "--address", "", "--summary-export", filepath.Join(dir, "summary.json"), file},
		os.WriteFile(file, []byte(script), 0o600)
}

var k6 = tool{Name: "k6", Program: "k6",
	Args: func(l load, dir string) ([]string, error) { return k6Args(l, l.Connections, dir) },
	Read: func(_ []byte, dir string, _ func(string, ...string) ([]byte, error)) (report, error) {
		out, err := os.ReadFile(filepath.Join(dir, "summary.json"))
		if err != nil {
			return report{}, err
		}
		return readK6(out)
	}}

// k6Enough has users for all requests that can be under way at once: each needs
// one of its own.
func k6Enough(longest time.Duration) tool {
	t := k6
	t.Name, t.Unlimited = "k6, users enough", true
	t.Args = func(l load, dir string) ([]string, error) {
		return k6Args(l, l.Connections+int(float64(l.Rate)*longest.Seconds()*1.2), dir)
	}
	return t
}

func connections(l load) string { return fmt.Sprintf("-c%d", l.Connections) }
func seconds(l load) string     { return fmt.Sprintf("%ds", l.Seconds) }
