package program

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/test/testkit/groups"
)

// A generator whose own control group has a quota of 10% of a CPU is the limit, and says so,
// whatever it speaks.
func TestAGeneratorUnderAQuotaIsTheLimit(t *testing.T) {
	needCgroups(t)
	plain, secure := prompt(t, false), prompt(t, true)
	proto := filepath.Join(t.TempDir(), "a.proto")
	if err := os.WriteFile(proto, []byte(`syntax = "proto3"; package a; message M {} service S { rpc Call(M) returns (M); }`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string][]string{
		"HTTP/1.1":          {plain + "/"},
		"HTTP/1.1 over TLS": {"-k", secure + "/"},
		"HTTP/2":            {"--http2", plain + "/"},
		"HTTP/2 over TLS":   {"--http2", "-k", secure + "/"},
		"gRPC":              {"--grpc", "a.S/Call", "--proto", proto, "-b", "{}", strings.TrimPrefix(plain, "http://")},
		"gRPC over TLS":     {"--grpc", "a.S/Call", "--proto", proto, "-b", "{}", "-k", secure},
	} {
		for loop, flags := range map[string][]string{"closed loop": {"-c", "32"}, "open loop": {"-R", "20000"}} {
			t.Run(name+", "+loop, func(t *testing.T) {
				g := groups.New(t)
				g.LimitCPU(t, 0.1)
				c := g.Command(filepath.Join(bin, "millicore"), slices.Concat([]string{"load", "--json", "-d", "3s"}, flags, to)...)
				var errs strings.Builder
				c.Stderr = &errs
				out, err := c.Output()
				s := testkit.Answer[summary.Cell](t, err, out, errs.String())
				by, throttled := &s.Generator, 0.0
				if by.ThrottledShare != nil {
					throttled = *by.ThrottledShare
				}
				named := by.Limited || loop == "open loop" && by.SentLate // HTTP/2 may send the rate in a few bursts
				if !named || throttled < 0.3 {
					t.Errorf("%d requests, limited by the generator: %t, which sent late: %t, and was throttled for %v of the time", s.Requests, by.Limited, by.SentLate, throttled)
				}
			})
		}
	}
}

// prompt is the URL of a server that answers at once, calls of gRPC with an empty message.
func prompt(t *testing.T, secure bool) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") == "application/grpc" {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Trailer", "Grpc-Status")
			defer w.Header().Set("Grpc-Status", "0")
		}
		_, _ = w.Write(make([]byte, 5)) // of gRPC, the head of an empty message
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetHTTP2(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(s.Close)
	if s.EnableHTTP2 = secure; secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	return s.URL
}
