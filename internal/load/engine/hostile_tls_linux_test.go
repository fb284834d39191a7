package engine

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/wire"
)

// Kinds of records (RFC 8446, 5.1), and the size of their heads.
const (
	alertRecord     = 21
	handshakeRecord = 22
	dataRecord      = 23
	recordHead      = 5
)

// spoiled passes the records of a service. After ones that spoil spoils, the connection
// ends; the others pass as they are. spoil gets the kind and the whole record.
func spoiled(spoil func(kind byte, record []byte) (instead []byte, spoils bool)) func(*net.TCPConn, net.Conn) {
	return func(client *net.TCPConn, service net.Conn) {
		for in := bufio.NewReader(service); ; {
			record := make([]byte, recordHead)
			if _, err := io.ReadFull(in, record); err != nil {
				return
			}
			body := make([]byte, int(record[3])<<8|int(record[4]))
			if _, err := io.ReadFull(in, body); err != nil {
				return
			}
			record = append(record, body...)
			instead, spoils := spoil(record[0], record)
			if spoils {
				client.Write(instead)
				client.CloseWrite()
				io.Copy(io.Discard, client) // else what the client sends resets the connection before it has read
				return
			}
			client.Write(record)
		}
	}
}

// inData and inHandshake spoil the first record of their kind that is long enough to be an
// answer, or to have the certificate.
func inData(to func(record []byte) []byte) func(byte, []byte) ([]byte, bool) {
	return spoilKind(dataRecord, to)
}

func inHandshake(to func(record []byte) []byte) func(byte, []byte) ([]byte, bool) {
	return spoilKind(handshakeRecord, to)
}

func spoilKind(of byte, to func(record []byte) []byte) func(byte, []byte) ([]byte, bool) {
	return func(kind byte, record []byte) ([]byte, bool) {
		if kind != of || len(record) < 50 {
			return nil, false
		}
		return to(record), true
	}
}

// What a service that breaks TLS, or ends the connection where it must not, costs: the
// requests on whose connections that was, and nothing else.
func TestHostileTLS(t *testing.T) {
	half := func(record []byte) []byte { return record[:len(record)/2] }
	changed := func(record []byte) []byte { record[len(record)/2] ^= 1; return record }
	head := func(kind, version, high, low byte) func([]byte) []byte {
		return func(record []byte) []byte { return append([]byte{kind, 3, version, high, low}, record[recordHead:]...) }
	}
	for name, c := range map[string]struct {
		spoil func(kind byte, record []byte) ([]byte, bool)
		want  string
		most  uint16 // version
	}{
		"ends in the middle of an answer's record":   {inData(half), "cut", tls.VersionTLS12},
		"an answer that was changed":                 {inData(changed), "cut", tls.VersionTLS12},
		"an answer that was changed, 1.3":            {inData(changed), "refused", tls.VersionTLS13}, // of the handshake
		"a record that is too long":                  {inData(head(dataRecord, 3, 0xff, 0xff)), "cut", tls.VersionTLS12},
		"a record of no known kind":                  {inData(head(99, 3, 0, 9)), "cut", tls.VersionTLS12},
		"a record of another version":                {inData(head(dataRecord, 9, 0, 9)), "cut", tls.VersionTLS12},
		"a handshake without encryption in between":  {inData(head(handshakeRecord, 3, 0, 4)), "cut", tls.VersionTLS12},
		"an alert without encryption in between":     {inData(head(alertRecord, 3, 0, 2)), "cut", tls.VersionTLS12},
		"an empty record":                            {inData(func([]byte) []byte { return []byte{dataRecord, 3, 3, 0, 0} }), "cut", tls.VersionTLS12},
		"nothing":                                    {inData(func([]byte) []byte { return nil }), "cut", tls.VersionTLS12},
		"ends instead of a hello":                    {inHandshake(func([]byte) []byte { return nil }), "refused", tls.VersionTLS12},
		"ends in the middle of the handshake":        {inHandshake(half), "refused", tls.VersionTLS12},
		"ends in the middle of the handshake of 1.3": {inData(half), "refused", tls.VersionTLS13},
		"a hello that was changed":                   {inHandshake(func(r []byte) []byte { r[recordHead] = 77; return r }), "refused", tls.VersionTLS12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, target := tlsService(t, &tls.Config{MaxVersion: c.most, SessionTicketsDisabled: true}, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat("x", 300)) })
			p := planOf(t, through(t, target, spoiled(c.spoil)), insecure, 4, wire.Request{Method: "POST"})
			p.Timeout, p.Load.Curve = time.Minute, steady(t, 2, p.Load.Curve.Length())
			sum, err := ran(t, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := map[string]int64{"cut": sum.Cut, "refused": sum.Refused, "good": sum.Good, "timeouts": sum.Timeouts, "malformed": sum.Malformed}; got[c.want] != 4 {
				t.Errorf("%v; want 4 %s", got, c.want)
			}
		})
	}
}

// A service that answers a hello with an alert, or with what is not TLS, says on each
// connection that it does not fit: that is an error, and no result.
func TestAServiceThatDeclinesTLS(t *testing.T) {
	for name, answer := range map[string]string{
		"handshake failure": "\x15\x03\x03\x00\x02\x02\x28",
		"HTTP":              "HTTP/1.1 400 Bad Request\r\n\r\n",
		"data":              "\x17\x03\x03\x00\x02hi",
		"zeros":             strings.Repeat("\x00", 100),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, target := tlsService(t, nil, func(http.ResponseWriter, *http.Request) {})
			target = through(t, target, func(client *net.TCPConn, service net.Conn) {
				io.WriteString(client, answer)
				client.CloseWrite()
				io.Copy(io.Discard, client)
			})
			begun := time.Now()
			_, err := ran(t, planOf(t, target, insecure, 4, wire.Request{}))
			if unfit := (*Unfit)(nil); !errors.As(err, &unfit) {
				t.Errorf("%v after %v; want that the service does not fit", err, time.Since(begun))
			}
		})
	}
}
