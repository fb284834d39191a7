package reflection_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// A server and its services have a health each; one without the service has none.
func TestServing(t *testing.T) {
	s := health.NewServer()
	s.SetServingStatus("shop.Orders", healthpb.HealthCheckResponse_NOT_SERVING)
	with := client(start(t, func(g *grpc.Server) { healthpb.RegisterHealthServer(g, s) }))
	without := client(start(t, none))
	if err := with.Serving(t.Context(), ""); err != nil {
		t.Errorf("a server that serves: %v", err)
	}
	if err := with.Serving(t.Context(), "shop.Orders"); err == nil || !strings.HasSuffix(err.Error(), "answers NOT_SERVING") {
		t.Errorf("a service that does not: %v", err)
	}
	if err := with.Serving(t.Context(), "shop.Absent"); err == nil || !strings.Contains(err.Error(), "NOT_FOUND") {
		t.Errorf("a service that is not there: %v", err)
	}
	if err := without.Serving(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "UNIMPLEMENTED") {
		t.Errorf("a server without the method: %v", err)
	}
	s.SetServingStatus("shop.Orders", healthpb.HealthCheckResponse_SERVING)
	if err := with.Serving(t.Context(), "shop.Orders"); err != nil {
		t.Errorf("a service that serves now: %v", err)
	}
}
