package servicetest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/test/testkit"
)

// Check checks the process of a service, one subtest for each part.
func (r Runtime) Check(t *testing.T) {
	r.CheckSignals(t)
	t.Run("a port in use", r.refusesPort)
	t.Run("wrong usage", r.refusesUsage)
	t.Run("help", r.helps)
	t.Run("metrics name the runtime", r.namesRuntime)
}

// CheckSignals checks how a service with these settings ends.
func (r Runtime) CheckSignals(t *testing.T, env ...string) {
	for name, check := range map[string]func(*testing.T, *Process){
		"a signal awaits the request in flight":  awaitsRequest(syscall.SIGTERM),
		"an interrupt does too":                  awaitsRequest(syscall.SIGINT),
		"a signal ends idle connections":         endsIdle,
		"a request that does not end is cut off": cutsOff,
		"a second signal ends it at once":        endsAtOnce,
	} {
		t.Run(name, func(t *testing.T) { check(t, r.Start(t, env...)) })
	}
}

func awaitsRequest(signal syscall.Signal) func(*testing.T, *Process) {
	return func(t *testing.T, p *Process) {
		open := p.openRequest(t)
		p.signal(t, signal)
		awaitRefusal(t, p.address())
		if status := open.finish(t); status != http.StatusCreated {
			t.Errorf("status %d, want 201", status)
		}
		p.wantEnd(t)
	}
}

// endsIdle has one connection that has been used and one that never was.
func endsIdle(t *testing.T, p *Process) {
	unused, err := net.Dial("tcp", p.address())
	if err != nil {
		t.Fatal(err)
	}
	defer unused.Close()
	if status, _ := get(t, p.URL+"/healthz"); status != http.StatusOK { // its connection is kept
		t.Fatalf("status %d", status)
	}
	p.signal(t, syscall.SIGTERM)
	p.wantEnd(t)
}

// cutsOff has a client that never sends the rest of its body.
func cutsOff(t *testing.T, p *Process) {
	p.openRequest(t)
	p.signal(t, syscall.SIGTERM)
	if err := p.Wait(); err != nil || !strings.Contains(p.Stderr.String(), "cut off") {
		t.Errorf("it ended with %v and said %q; want exit code 0 and that it cut something off", err, p.Stderr)
	}
}

func endsAtOnce(t *testing.T, p *Process) {
	open := p.openRequest(t)
	defer open.conn.Close()
	p.signal(t, syscall.SIGTERM)
	awaitRefusal(t, p.address())
	p.signal(t, syscall.SIGTERM)
	_ = p.Wait()
	if status := p.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v, want by the signal", p.ProcessState)
	}
}

func (r Runtime) refusesPort(t *testing.T) {
	p := r.Start(t)
	_, port, _ := net.SplitHostPort(p.address())
	end := r.Run(t, []string{"--port", port}, nil)
	if end.Code != 1 || end.Stdout != "" || !strings.HasPrefix(end.Stderr, r.Name+": ") || !strings.Contains(end.Stderr, "--port") {
		t.Errorf("%+v; want exit code 1 and the way out on standard error", end)
	}
}

func (r Runtime) refusesUsage(t *testing.T) {
	for name, c := range map[string]struct {
		args, env []string
		says      string
	}{
		"an unknown flag":         {args: []string{"--prot", "1"}, says: "--prot"},
		"an argument":             {args: []string{"8080"}, says: "8080"},
		"a port that is a word":   {env: []string{"PORT=http"}, says: "http"},
		"a port over its bound":   {args: []string{"--port", "65536"}, says: "65536"},
		"a store that is not":     {env: []string{"STORE=redis"}, says: "STORE=redis"},
		"a store of every object": {env: []string{"STORE=constructor"}, says: "STORE=constructor"},
		"no framework":            {env: []string{"FRAMEWORK=express"}, says: "FRAMEWORK=express"},
		"no URL of a database":    {env: []string{"STORE=postgres"}, says: "DATABASE_URL"},
		"another database's URL":  {env: []string{"STORE=mongodb", "DATABASE_URL=postgres://127.0.0.1/"}, says: "DATABASE_URL"},
		"a URL that is none":      {env: []string{"STORE=mongodb", "DATABASE_URL=mongodb://"}, says: "DATABASE_URL"},
		"no connection":           {env: []string{"DATABASE_CONNECTIONS=0"}, says: "DATABASE_CONNECTIONS=0"},
		"no worker":               {env: []string{"WORKERS=0"}, says: "WORKERS=0"},
		"too many workers":        {env: []string{"WORKERS=1025"}, says: "WORKERS=1025"},
		"workers in words":        {env: []string{"WORKERS=two"}, says: "WORKERS=two"},
		"a large cluster":         {env: []string{"CLUSTER=65"}, says: "CLUSTER=65"},
	} {
		t.Run(name, func(t *testing.T) {
			end := r.Run(t, c.args, c.env)
			if end.Code != 2 || end.Stdout != "" || !strings.HasPrefix(end.Stderr, r.Name+": ") || !strings.Contains(end.Stderr, c.says) {
				t.Errorf("%+v; want exit code 2 and %q on standard error", end, c.says)
			}
		})
	}
}

func (r Runtime) helps(t *testing.T) {
	end := r.Run(t, []string{"--help"}, nil)
	if end.Code != 0 || end.Stderr != "" || !strings.HasPrefix(end.Stdout, "Usage: "+r.Name) {
		t.Errorf("%+v; want exit code 0 and the usage", end)
	}
}

func (r Runtime) namesRuntime(t *testing.T) {
	_, body := get(t, r.Start(t).URL+"/metrics")
	for _, name := range []string{"nodejs_version_info{", "process_resident_memory_bytes ", "process_cpu_seconds_total "} {
		if !strings.Contains(body, "\n"+name) {
			t.Errorf("/metrics lacks %q", name)
		}
	}
}

func (p *Process) address() string { return strings.TrimPrefix(p.URL, "http://") }

func (p *Process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// wantEnd waits for the end of a service after a signal to stop.
func (p *Process) wantEnd(t *testing.T) {
	t.Helper()
	if err := p.Wait(); err != nil || p.Stderr.Len() != 0 {
		t.Errorf("it ended with %v and said %q; want exit code 0 and silence", err, p.Stderr)
	}
}

// openRequest is a request whose body is not all sent, so that it is in flight
// for as long as the test wants.
type openRequest struct {
	conn net.Conn
	rest string
}

// openRequest begins to add a device. When connections behind it have been
// answered, its event loop has seen it; that of each process, where several take
// connections in turn.
func (p *Process) openRequest(t *testing.T) openRequest {
	t.Helper()
	conn, err := net.Dial("tcp", p.address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	// A service that stops answering fails the test, and does not hang it.
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	const body = `{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`
	fmt.Fprintf(conn, "POST /devices HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:10])
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range 2 * members {
		resp, err := client.Get(p.URL + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	return openRequest{conn, body[10:]}
}

// finish sends the rest and returns the status of the answer.
func (o openRequest) finish(t *testing.T) int {
	t.Helper()
	fmt.Fprint(o.conn, o.rest)
	resp, err := http.ReadResponse(bufio.NewReader(o.conn), nil)
	if err != nil {
		t.Fatalf("the request in flight got no answer: %v", err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// awaitRefusal returns when address takes no more connections.
func awaitRefusal(t *testing.T, address string) {
	t.Helper()
	testkit.Until(t, "no connection is accepted", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
}
