package requests

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	pb "google.golang.org/grpc/interop/grpc_testing"
	grpcreflection "google.golang.org/grpc/reflection"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// counted counts the connections of a listener.
type counted struct {
	net.Listener
	n atomic.Int64
}

func (c *counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

// All schemas of a load are asked for on one connection, within a time of its own.
func TestDescribeOnOneConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, at := grpc.NewServer(), &counted{Listener: l}
	pb.RegisterTestServiceServer(s, pb.UnimplementedTestServiceServer{})
	grpcreflection.Register(s)
	go s.Serve(at)
	t.Cleanup(s.Stop)
	const service = "grpc.testing.TestService/"
	load := experiment.Load{Timeout: time.Nanosecond, Mix: []experiment.Request{{GRPC: service + "UnaryCall"}, {GRPC: service + "EmptyCall", Headers: map[string]string{"n": "{{seq}}"}}}}
	load.Request = load.Mix[0]
	load.Settle()
	if err := Describe(t.Context(), &load, []string{"", l.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	for _, r := range load.Calls() {
		if !strings.Contains(string(r.Inputs.Schema), "TestService") {
			t.Errorf("%s has no schema", r.GRPC)
		}
	}
	if n := at.n.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// A call's deadline ends a little before its timeout.
func TestDeadlineOfACall(t *testing.T) {
	for timeout, want := range map[time.Duration]string{time.Minute: "59950000u", time.Second: "950000u", 100 * time.Millisecond: "95000u", time.Millisecond: "950u"} {
		if got := request(&experiment.Request{GRPC: "a.B/C"}, timeout).Headers["Grpc-Timeout"]; got != want {
			t.Errorf("%v: %s, want %s", timeout, got, want)
		}
	}
}

// A load waits until its server serves, and a replica is ready by the same method.
func TestAwaitHealth(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, how := grpc.NewServer(), health.NewServer()
	how.Shutdown() // NOT_SERVING
	healthpb.RegisterHealthServer(s, how)
	go s.Serve(l)
	t.Cleanup(s.Stop)
	load := experiment.Load{Timeout: time.Minute, Request: experiment.Request{GRPC: "a.B/C"}}
	load.Settle()
	ready := supervise.Ready(experiment.Ready{Path: "/grpc.health.v1.Health/Check?service="})
	if err := ready(t.Context(), l.Addr().String()); err == nil || !strings.HasSuffix(err.Error(), "answers NOT_SERVING") {
		t.Errorf("a replica that does not serve: %v", err)
	}
	done := make(chan error)
	go func() { done <- AwaitHealth(t.Context(), &load, l.Addr().String()) }()
	how.Resume()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := ready(t.Context(), l.Addr().String()); err != nil {
		t.Errorf("a replica that serves: %v", err)
	}
}
