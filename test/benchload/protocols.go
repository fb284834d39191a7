package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// What a load speaks, beside HTTP/1.1 without TLS.
const (
	h2c   = "h2c"   // HTTP/2 without TLS
	h2    = "h2"    // HTTP/2 over TLS
	https = "https" // HTTP/1.1 over TLS
	grpc  = "grpc"  // calls of grpc.health.v1.Health/Check, without TLS
)

// spoken is a closed loop of 64 requests at a time that speaks something else.
type spoken struct {
	Speaks, Name         string
	Connections, Streams int    // streams of each connection
	Base                 string // the tool that the others are compared with
	Tools                []tool
}

var protocols = []spoken{
	{h2c, "HTTP/2, 1 connection of 64 streams", 1, 64, h2load.Name, []tool{wholeLoad, h2load, oha}},
	{h2c, "HTTP/2, 8 connections of 8 streams", 8, 8, h2load.Name, []tool{wholeLoad, h2load, oha}},
	{h2, "HTTP/2 over TLS, 1 connection of 64 streams", 1, 64, h2load.Name, []tool{wholeLoad, h2load, oha}},
	{h2, "HTTP/2 over TLS, 8 connections of 8 streams", 8, 8, h2load.Name, []tool{wholeLoad, h2load, oha, hey}},
	{https, "HTTP/1.1 over TLS, 64 connections", 64, 1, base, []tool{wholeLoad, wrk, h2load, oha, fortio, hey}},
	{grpc, "gRPC, 8 connections of 8 calls", 8, 8, fortio.Name, []tool{wholeLoad, fortio, ghz}},
}

func (p *spoken) load(seconds int) load {
	return load{Seconds: seconds, Connections: p.Connections, Streams: p.Streams, Speaks: p.Speaks}
}

// atOnce is how many requests a load has at a time.
func atOnce(l load) int { return l.Connections * max(1, l.Streams) }

func overTLS(speaks string) bool { return speaks == h2 || speaks == https }

// hey has 64 workers, and connections as its library makes them. It does not verify
// certificates.
var hey = tool{Name: "hey", Program: "hey", Read: text(readHey),
	Args: func(l load, _ string) ([]string, error) {
		args := []string{"-c", fmt.Sprint(atOnce(l)), "-z", seconds(l)}
		if l.Speaks == h2 {
			args = append(args, "-h2")
		}
		return append(args, l.URL), nil
	}}

var ghz = tool{Name: "ghz", Program: "ghz", Read: text(readGhz),
	Args: func(l load, _ string) ([]string, error) {
		return []string{"--insecure", "--call", "grpc.health.v1.Health.Check", "-d", "{}", "-c", fmt.Sprint(atOnce(l)), "--connections", fmt.Sprint(l.Connections),
			"-z", seconds(l), "--duration-stop", "ignore", "-O", "json", l.Addr}, nil
	}}

var heyStatus = regexp.MustCompile(`(?m)^\s*\[(\d{3})\]\s+(\d+) responses$`)

// readHey parses hey's summary; what it lists as errors counts by its lines of "[n] error".
func readHey(out []byte) (report, error) {
	codes, errors, _ := strings.Cut(string(out), "Error distribution:")
	var r report
	for _, found := range heyStatus.FindAllStringSubmatch(codes, -1) {
		var n int64
		fmt.Sscan(found[2], &n) // digits by the expression
		r.byStatus(found[1], n)
	}
	r.Bad += numbers([]byte(errors), regexp.MustCompile(`(?m)^\s*\[(\d+)\]`))
	if r.Good+r.Bad == 0 {
		return r, fmt.Errorf("no responses in what it said")
	}
	return r, nil
}

// readGhz parses ghz -O json.
func readGhz(out []byte) (report, error) {
	var said struct {
		Codes map[string]int64 `json:"statusCodeDistribution"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return report{}, err
	}
	if said.Codes == nil {
		return report{}, fmt.Errorf("no status codes in what it said")
	}
	r := report{Good: said.Codes["OK"]}
	for code, n := range said.Codes {
		if code != "OK" {
			r.Bad += n
		}
	}
	return r, nil
}

func protocolTable(w io.Writer, runs []run) {
	var head bool
	for i := range protocols {
		p := &protocols[i]
		for _, name := range tools(runs, p.Name, perRequest) {
			if !head {
				fmt.Fprintf(w, "\n### HTTP/2, TLS and gRPC: closed loop, 64 requests at a time\n\nnginx answers 200 bytes; gRPC is grpc.health.v1.Health/Check of fortio's server. CPU of all the tool's processes. Medians of %s; in brackets their ranges.\n\n", roundsText(runs, p.Name))
				fmt.Fprintln(w, "| | client | CPU µs/request | ratio, same round | thousand requests/s | highest RSS, MB |\n|---|---|---|---|---|---|")
				head = true
			}
			figures := func(f func(*run) float64) spread { return spreadOf(of(runs, p.Name, name, f)) }
			fmt.Fprintf(w, "| %s | %s | %s | %s to %s | %.1f | %.0f |\n", p.Name, name, between(figures(perRequest), "%.2f"),
				between(spreadOf(paired(runs, p.Name, name, p.Base, perRequest)), "%.2f"), p.Base, figures(rate).Median/1000, figures(peakMemory).Median)
		}
	}
}
