package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// load is what a tool is asked for.
type load struct {
	URL         string
	Addr        string // of its host and port
	Seconds     int
	Connections int
	Rate        int    // requests a second; 0: a closed loop
	Even        bool   // of Millicore's: requests at even distances, as the peers' are
	Streams     int    // of each connection, with HTTP/2
	Speaks      string // "": HTTP/1.1 without TLS; else one of the protocols
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
		switch l.Speaks {
		case grpc:
			args = append(args, "--grpc", "grpc.health.v1.Health/Check", "-b", "{}")
			l.URL = l.Addr
		case h2, h2c:
			args = append(args, "--http2", "--streams", fmt.Sprint(l.Streams))
		}
		if overTLS(l.Speaks) {
			args = append(args, "-k")
		}
		if l.Rate == 0 {
			args = append(args, "-c", fmt.Sprint(atOnce(l)))
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

// h2load speaks HTTP/2 by default, and its rate is per connection. Its quantiles are
// available only from its log, which costs little.
var h2load = tool{Name: "h2load", Program: "h2load",
	Args: func(l load, dir string) ([]string, error) {
		speaks := "--h1"
		if l.Speaks == h2 || l.Speaks == h2c {
			speaks = fmt.Sprintf("-m%d", l.Streams)
		}
		args := []string{speaks, "-t1", connections(l), "-D", fmt.Sprint(l.Seconds)}
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

// oha corrects its latencies for late requests only with an option.
var oha = tool{Name: "oha", Program: "oha", Read: text(readOha),
	Args: func(l load, _ string) ([]string, error) {
		args := []string{"--no-tui", "--output-format", "json", "-c", fmt.Sprint(l.Connections), "-z", seconds(l)}
		if l.Speaks == h2 || l.Speaks == h2c {
			args = append(args, "--http-version", "2", "-p", fmt.Sprint(l.Streams))
		}
		if overTLS(l.Speaks) {
			args = append(args, "--insecure")
		}
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

// fortio starts a new request late rather than never, as long as its connections suffice.
var fortio = tool{Name: "fortio", Program: "fortio", Read: text(readFortio),
	Args: func(l load, _ string) ([]string, error) {
		args := []string{"load", "-quiet", "-allow-initial-errors", "-json", "-", "-p", "50,95,99", "-c", fmt.Sprint(l.Connections), "-t", seconds(l),
			"-qps", fmt.Sprint(l.Rate)}
		switch {
		case l.Speaks == grpc:
			return append(args, "-grpc", "-s", fmt.Sprint(l.Streams), l.Addr), nil
		case overTLS(l.Speaks):
			args = append(args, "-k")
		}
		return append(args, l.URL), nil
	}}

func connections(l load) string { return fmt.Sprintf("-c%d", l.Connections) }
func seconds(l load) string     { return fmt.Sprintf("%ds", l.Seconds) }
