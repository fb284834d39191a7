package reflection_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	grpcreflection "google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/load/message"
	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/load/reflection"
)

const method = "grpc.testing.TestService/UnaryCall"

// server answers as its requests ask.
type server struct {
	pb.UnimplementedTestServiceServer
}

func (server) UnaryCall(_ context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	if s := r.GetResponseStatus(); s != nil {
		return nil, status.Error(codes.Code(s.Code), s.Message)
	}
	return &pb.SimpleResponse{Payload: &pb.Payload{Body: make([]byte, r.GetResponseSize())}}, nil
}

// StreamingInputCall answers with the number of its requests.
func (server) StreamingInputCall(s grpc.ClientStreamingServer[pb.StreamingInputCallRequest, pb.StreamingInputCallResponse]) error {
	for n := int32(0); ; n++ {
		if _, err := s.Recv(); err == io.EOF {
			return s.SendAndClose(&pb.StreamingInputCallResponse{AggregatedPayloadSize: n})
		} else if err != nil {
			return err
		}
	}
}

func (server) StreamingOutputCall(r *pb.StreamingOutputCallRequest, s grpc.ServerStreamingServer[pb.StreamingOutputCallResponse]) error {
	for _, p := range r.GetResponseParameters() {
		if err := s.Send(&pb.StreamingOutputCallResponse{Payload: &pb.Payload{Body: make([]byte, p.Size)}}); err != nil {
			return err
		}
	}
	return nil
}

// start starts grpc-go's test service and returns its address.
func start(t *testing.T, register func(*grpc.Server), o ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(o...)
	pb.RegisterTestServiceServer(s, server{})
	register(s)
	go s.Serve(l)
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

func v1(s *grpc.Server)      { grpcreflection.RegisterV1(s) }
func v1alpha(s *grpc.Server) { grpcreflection.Register(s) }
func none(*grpc.Server)      {}

func client(address string) *reflection.Client {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	return &reflection.Client{HTTP: &http.Client{Transport: transport, Timeout: 10 * time.Second}, URL: "http://" + address}
}

// A schema has the files that those of the service import; the bytes that it gives are those
// of generated code.
func TestSchemaOfAService(t *testing.T) {
	for name, register := range map[string]func(*grpc.Server){"v1": v1, "v1 and v1alpha": v1alpha} {
		schema, err := client(start(t, register)).Schema(t.Context(), method)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		encoder, err := message.New(schema, method)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := encoder.Append([]byte("before"), []byte(`{"responseSize": 7, "payload": {"body": "aGk="}}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := proto.Marshal(&pb.SimpleRequest{ResponseSize: 7, Payload: &pb.Payload{Body: []byte("hi")}})
		if err != nil {
			t.Fatal(err)
		}
		if head := "before\x00\x00\x00\x00" + string(rune(len(want))); string(got) != head+string(want) {
			t.Errorf("%s: %q, want %q", name, got, head+string(want))
		}
	}
}

func TestNoSchema(t *testing.T) {
	with, without := client(start(t, v1)), client(start(t, none))
	plain := client(startHTTP(t))
	for _, c := range []struct {
		client       *reflection.Client
		method, want string
	}{
		{with, "grpc.testing.Absent/UnaryCall", "there is no service grpc.testing.Absent; there are: grpc.reflection.v1.ServerReflection, grpc.testing.TestService"},
		{with, "UnaryCall", `"UnaryCall" is not a method of gRPC; write it as pkg.Service/Method`},
		{without, method, reflection.ErrNone.Error() + "; it answered UNIMPLEMENTED: unknown service grpc.reflection.v1alpha.ServerReflection"},
		{plain, method, reflection.ErrNone.Error() + "; it answered UNIMPLEMENTED: 404 Not Found, so it may not speak gRPC"},
	} {
		if _, err := c.client.Schema(t.Context(), c.method); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.method, err, c.want)
		}
	}
	if _, err := without.Schema(t.Context(), method); !errors.Is(err, reflection.ErrNone) {
		t.Errorf("%v", err)
	}
}

func startHTTP(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.NotFoundHandler(), Protocols: new(http.Protocols)}
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}

// seen is what the service learnt of its calls.
type seen struct {
	sync.Mutex
	sizes    map[int32]bool
	teams    map[string]bool
	deadline time.Duration
}

func (s *seen) intercept(ctx context.Context, r any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	s.Lock()
	if r, ok := r.(*pb.SimpleRequest); ok && r.GetResponseStatus() == nil {
		s.sizes[r.GetResponseSize()] = true
	}
	md, _ := metadata.FromIncomingContext(ctx)
	s.teams[strings.Join(md.Get("team"), " ")] = true
	if until, ok := ctx.Deadline(); ok {
		s.deadline = max(s.deadline, time.Until(until))
	}
	s.Unlock()
	return handle(ctx, r)
}

// An agent's calls reach a service of grpc-go with their messages, their metadata and their
// deadline, and count by their status.
func TestCallsOfAnAgent(t *testing.T) {
	s := &seen{sizes: map[int32]bool{}, teams: map[string]bool{}}
	address := start(t, v1, grpc.UnaryInterceptor(s.intercept))
	schema, err := client(address).Schema(t.Context(), method)
	if err != nil {
		t.Fatal(err)
	}
	call := func(weight int, method, body string) protocol.Request {
		return protocol.Request{Weight: weight, Method: "POST", Path: "/" + method, Body: body, Call: &protocol.Call{Method: method, Schema: schema},
			Headers: map[string]string{"Content-Type": "application/grpc", "Te": "trailers", "Grpc-Timeout": "5000m", "Team": "blue"}}
	}
	all := run(t, address, 1000,
		call(2, method, `{"responseSize": {{seq}}}`),
		call(1, method, `{"responseStatus": {"code": 14, "message": "all away"}}`),
		call(1, "grpc.testing.TestService/UnimplementedCall", ""),
		call(1, "grpc.testing.TestService/StreamingOutputCall", `{"responseParameters": [{"size": 3}, {"size": {{rand 70000 80000}}}]}`),
	)
	ok, away, absent := all.Status["200"], all.Status["UNAVAILABLE"], all.Status["UNIMPLEMENTED"]
	if ok+away+absent != 1000 || ok < 500 || away < 120 || absent < 120 || all.Good != ok || all.Latency.Count() != ok {
		t.Errorf("%v, %d good, %d cut, %d malformed; want 600, 200 and 200", all.Status, all.Good, all.Cut, all.Malformed)
	}
	if all.Said["UNAVAILABLE"] != "all away" || !strings.Contains(all.Said["UNIMPLEMENTED"], "UnimplementedCall") {
		t.Errorf("it said %q", all.Said)
	}
	if n := len(s.sizes); n < 300 || n > 500 {
		t.Errorf("%d messages with numbers of their own, want 400", n)
	}
	if len(s.teams) != 1 || !s.teams["blue"] || s.deadline <= 0 || s.deadline > 5*time.Second {
		t.Errorf("metadata %v, deadline %v; want blue and at most 5 s", s.teams, s.deadline)
	}
}

// run sends n requests of an agent, and returns what it counted.
func run(t *testing.T, address string, n int64, requests ...protocol.Request) *signals.Client {
	t.Helper()
	own, theirs := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- agent.Serve(theirs, theirs); theirs.Close() }()
	c := agent.NewClient(own)
	defer func() { c.Close(); <-done }()
	_, err := c.Prepare(t.Context(), protocol.Prepare{
		Trial: 1, Agents: 1, Threads: 2, Seed: 3, Targets: []string{address}, Transport: protocol.Transport{HTTP2: true}, Requests: requests,
		Load:    protocol.Load{Kind: protocol.Closed, Requests: n, Stages: []protocol.Stage{{From: 8, To: 8}}},
		Timeout: protocol.Duration(5 * time.Second), Interval: protocol.Duration(time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(time.Now()); err != nil {
		t.Fatal(err)
	}
	all := &signals.Client{Latency: signals.NewHistogram(), Service: signals.NewHistogram(), SendLag: signals.NewHistogram()}
	if _, err := c.Follow(t.Context(), func(f *signals.Frame) error { all.Add(f.Client); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// later fails each call with a time before a retry.
func later(ctx context.Context, _ any, _ *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
	if err := grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", "50")); err != nil {
		return nil, err
	}
	return nil, status.Error(codes.NotFound, "none")
}

// How a service of grpc-go sees the kinds of calls.
func TestKindsOfCalls(t *testing.T) {
	const stream = "grpc.testing.TestService/StreamingInputCall"
	plain := map[string]string{"Content-Type": "application/grpc", "Te": "trailers"}
	zipped := map[string]string{"Content-Type": "application/grpc", "Te": "trailers", "Grpc-Encoding": "gzip", "Grpc-Accept-Encoding": "gzip"}
	for name, c := range map[string]struct {
		call     protocol.Call
		headers  map[string]string
		raw      string
		check    *protocol.Check
		serve    grpc.UnaryServerInterceptor
		status   string
		good     int64
		pushback int64
	}{
		"messages in turn":            {protocol.Call{Method: method}, plain, "{\"responseSize\": 1}\n{\"responseSize\": 2}\n", nil, nil, "200", 24, 0},
		"a stream of messages":        {protocol.Call{Method: stream}, plain, "{} {} {}", nil, nil, "200", 24, 0},
		"gzip, also of the answer":    {protocol.Call{Method: method, Gzip: true}, zipped, `{"responseSize": 3000}`, nil, nil, "200", 24, 0},
		"gzip of a stream":            {protocol.Call{Method: stream, Gzip: true}, zipped, `{}{}`, nil, nil, "200", 24, 0},
		"an answer that is too large": {protocol.Call{Method: method, Largest: 3000}, plain, `{"responseSize": 3000}`, nil, nil, "message too large", 0, 0},
		"a code that is good":         {protocol.Call{Method: method}, plain, "", &protocol.Check{Status: []int{signals.FirstCall + int(codes.NotFound)}}, later, "NOT_FOUND", 24, 0},
		"a retry later":               {protocol.Call{Method: method}, plain, "", nil, later, "NOT_FOUND", 0, 24},
	} {
		t.Run(name, func(t *testing.T) {
			s := &seen{sizes: map[int32]bool{}, teams: map[string]bool{}}
			if c.serve == nil {
				c.serve = s.intercept
			}
			address := start(t, v1, grpc.UnaryInterceptor(c.serve))
			schema, err := client(address).Schema(t.Context(), c.call.Method)
			if err != nil {
				t.Fatal(err)
			}
			c.call.Schema = schema
			all := run(t, address, 24, protocol.Request{Method: "POST", Path: "/" + c.call.Method, Raw: []byte(c.raw), Call: &c.call, Headers: c.headers, Check: c.check})
			if all.Good != c.good || !maps.Equal(all.Status, map[string]int64{c.status: 24}) || all.Pushbacks != c.pushback {
				t.Errorf("%d good, %v, %d to retry later, %q", all.Good, all.Status, all.Pushbacks, all.Said)
			}
			if name == "messages in turn" && (len(s.sizes) != 2 || !s.sizes[1] || !s.sizes[2]) {
				t.Errorf("its messages were %v", s.sizes)
			}
		})
	}
}
