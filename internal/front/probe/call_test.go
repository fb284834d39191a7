package probe

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"github.com/millicore/millicore/internal/data/experiment"
)

type callServer struct {
	pb.UnimplementedTestServiceServer
}

func (callServer) UnaryCall(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	until, limited := ctx.Deadline()
	switch {
	case r.ResponseSize == 0:
		return nil, status.Error(codes.NotFound, "no size")
	case !slices.Equal(md.Get("user"), []string{"u1"}) || !limited || time.Until(until) > 4950*time.Millisecond:
		return nil, status.Errorf(codes.InvalidArgument, "user %q until %v", md.Get("user"), until)
	}
	return &pb.SimpleResponse{Payload: &pb.Payload{Body: make([]byte, r.ResponseSize)}}, nil
}

// The probe calls as the load will, by the schema of the server, and counts by status.
func TestProbeCalls(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	pb.RegisterTestServiceServer(s, callServer{})
	reflection.Register(s)
	go s.Serve(l)
	defer s.Stop()
	const method = "grpc.testing.TestService/"
	for _, c := range []struct{ method, body, want string }{
		{method + "UnaryCall", `{"responseSize": {{rand 3 9}}}`, ""},
		{method + "UnaryCall", `{"responseSize": 5000000}`, method + "UnaryCall ended with message too large; check --grpc and the message of --body: try needs calls that succeed"},
		{method + "UnaryCall", `{}`, method + "UnaryCall ended with NOT_FOUND: no size; check --grpc and the message of --body: try needs calls that succeed"},
		{method + "Absent", ``, "call " + method + "Absent: the service grpc.testing.TestService has no method Absent; it has: EmptyCall, UnaryCall, CacheableUnaryCall, StreamingOutputCall, StreamingInputCall, FullDuplexCall, HalfDuplexCall, UnimplementedCall"},
	} {
		load := experiment.Load{Request: experiment.Request{GRPC: c.method, Body: c.body, Headers: map[string]string{"User": "u{{seq}}"}}, Timeout: 5 * time.Second}
		load.Settle()
		a, err := Ask(t.Context(), l.Addr().String(), &load)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			if a.Good() != a.sent || a.sent == 0 || a.Least <= 0 {
				t.Errorf("%s: %d of %d good, %v", c.body, a.Good(), a.sent, a.bad)
			}
			continue
		}
		if err := a.Unusable(); err == nil || err.Error() != c.want {
			t.Errorf("%s %s: %v\nwant %s", c.method, c.body, err, c.want)
		}
	}
	_, address, _ := net.SplitHostPort(l.Addr().String())
	s.Stop()
	load := experiment.Load{Request: experiment.Request{GRPC: method + "UnaryCall"}, Timeout: 5 * time.Second}
	load.Settle()
	if _, err := Ask(t.Context(), "127.0.0.1:"+address, &load); err == nil {
		t.Error("a server that has ended is no error")
	}
}
