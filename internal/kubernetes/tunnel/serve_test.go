package tunnel

import (
	"context"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// nobody returns options with an address on which nothing listens.
func nobody(t *testing.T) Options {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Conductor: l.Addr().String(), Path: "/agent/0", CertFile: filepath.Join(t.TempDir(), "tls.crt"), TokenFile: filepath.Join(t.TempDir(), "token")}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("one")})
	if err := errors.Join(os.WriteFile(o.CertFile, certificate, 0o600), os.WriteFile(o.TokenFile, []byte("token\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestWithoutAConductorPatienceEnds(t *testing.T) {
	var notes []error
	l := loop{options: nobody(t), note: func(err error) { notes = append(notes, err) }, patience: 30 * time.Millisecond, first: 10 * time.Millisecond}
	err := l.run(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "no connection to the conductor for 30ms: dial the conductor at "+l.options.Conductor+"/agent/0: ") {
		t.Errorf("%v", err)
	}
	if len(notes) != 1 {
		t.Errorf("notes %v, want one cause once", notes)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	ended := errors.New("terminated")
	err := Serve(ctx, nobody(t), func(error) { end(ended) }, nil)
	if !errors.Is(err, ended) {
		t.Errorf("%v, want %v", err, ended)
	}
}

func TestATokenIsOneLineOfLetters(t *testing.T) {
	o := nobody(t)
	for _, text := range []string{"", "\n", "two words", "a\r\nHost: other", "\x00"} {
		if err := os.WriteFile(o.TokenFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := o.secrets(); err == nil || !strings.Contains(err.Error(), "has no token") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
