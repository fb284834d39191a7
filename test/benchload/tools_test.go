package main

import (
	"strings"
	"testing"
)

// The flags, in which the traps are: rates of a worker or of all, protocols, and
// bounds that tools set by themselves.
func TestArguments(t *testing.T) {
	dir := t.TempDir()
	closed := load{URL: "http://127.0.0.1:1/", Seconds: 5, Connections: 64}
	spoken := func(speaks string, connections, streams int) load {
		return load{URL: "http://127.0.0.1:1/", Addr: "HOST:1", Seconds: 5, Connections: connections, Streams: streams, Speaks: speaks}
	}
	open := load{URL: "http://127.0.0.1:1/", Seconds: 5, Connections: 64, Rate: 2000, Even: true}
	for _, c := range []struct {
		tool tool
		load load
		want string
	}{
		{wrk, closed, "-t1 -c64 -d5s --latency URL"},
		{h2load, closed, "--h1 -t1 -c64 -D 5 URL"},
		{h2load, open, "--h1 -t1 -c64 -D 5 --rps=31.25 --log-file=DIR/log URL"},
		{oha, closed, "--no-tui --output-format json -c 64 -z 5s URL"},
		{ohaCorrected, open, "--latency-correction --no-tui --output-format json -c 64 -z 5s -q 2000 URL"},
		{fortio, open, "load -quiet -allow-initial-errors -json - -p 50,95,99 -c 64 -t 5s -qps 2000 URL"},
		{wholeLoad, closed, "load --json --yes -d 5s -c 64 URL"},
		{wholeLoad, spoken(h2c, 8, 8), "load --json --yes -d 5s --http2 --streams 8 -c 64 URL"},
		{wholeLoad, spoken(https, 64, 1), "load --json --yes -d 5s -k -c 64 URL"},
		{wholeLoad, spoken(grpc, 8, 8), "load --json --yes -d 5s --grpc grpc.health.v1.Health/Check -b {} -c 64 HOST:1"},
		{h2load, spoken(h2, 1, 64), "-m64 -t1 -c1 -D 5 URL"},
		{h2load, spoken(https, 64, 1), "--h1 -t1 -c64 -D 5 URL"},
		{oha, spoken(h2, 8, 8), "--no-tui --output-format json -c 8 -z 5s --http-version 2 -p 8 --insecure URL"},
		{fortio, spoken(https, 64, 1), "load -quiet -allow-initial-errors -json - -p 50,95,99 -c 64 -t 5s -qps 0 -k URL"},
		{fortio, spoken(grpc, 8, 8), "load -quiet -allow-initial-errors -json - -p 50,95,99 -c 8 -t 5s -qps 0 -grpc -s 8 HOST:1"},
		{hey, spoken(h2, 8, 8), "-c 64 -z 5s -h2 URL"},
		{hey, spoken(https, 64, 1), "-c 64 -z 5s URL"},
		{ghz, spoken(grpc, 8, 8), "--insecure --call grpc.health.v1.Health.Check -d {} -c 64 --connections 8 -z 5s --duration-stop ignore -O json HOST:1"},
		{wholeLoad, open, "load --json --yes -d 5s -R 2000 --connections 64 --even URL"},
	} {
		args, err := c.tool.Args(c.load, dir)
		if err != nil {
			t.Errorf("%s: %v", c.tool.Name, err)
		}
		got := strings.NewReplacer(dir, "DIR", c.load.URL, "URL").Replace(strings.Join(args, " "))
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.tool.Name, got, c.want)
		}
	}
}
