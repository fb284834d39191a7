package golang

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
)

// Device is a device as clients see it.
type Device struct {
	ID       string `json:"id"`       // a UUID
	MAC      string `json:"mac"`      // six octets in hexadecimal, as 00-00-5E-00-53-01
	Firmware string `json:"firmware"` // a version, as 2.1.6
}

// fixedDevices is what GET /devices lists, the same in every sample service.
// The addresses are of the block that RFC 7042 sets aside for documentation.
var fixedDevices = []Device{
	{"1f0a5b52-6d4e-4c0b-9a39-0d1b7c5e2a01", "00-00-5E-00-53-01", "2.1.6"},
	{"2c9d7f10-83b7-4f5e-8b1c-5e6f7a8b9c02", "00-00-5E-00-53-02", "2.1.5"},
	{"3e8b6a21-94c8-4d6f-9c2d-6f708b9cad03", "00-00-5E-00-53-03", "2.1.5"},
	{"4d7a5b32-a5d9-4e70-8d3e-70819cadbe04", "00-00-5E-00-53-04", "2.1.5"},
	{"5c694c43-b6ea-4f81-9e4f-8192adbecf05", "00-00-5E-00-53-05", "2.1.2"},
	{"6b583d54-c7fb-4092-8f50-92a3becfd006", "00-00-5E-00-53-06", "2.1.1"},
	{"7a472e65-d80c-41a3-9061-a3b4cfd0e107", "00-00-5E-00-53-07", "2.1.6"},
	{"89361f76-e91d-42b4-8172-b4c5d0e1f208", "00-00-5E-00-53-08", "2.1.4"},
	{"98250087-fa2e-43c5-9283-c5d6e1f20309", "00-00-5E-00-53-09", "2.2.0"},
	{"a714f198-0b3f-44d6-8394-d6e7f203140a", "00-00-5E-00-53-0A", "2.2.0"},
}

// listDevices encodes the list for each request, although it never changes: real
// services encode data that they have just read, and with bytes encoded in advance the
// route would measure the socket only.
func listDevices(call) (content, error) {
	return encode(fixedDevices)
}

// addDevice takes a device, gives it a UUID and hands it to the store, whose
// time goes into inserts.
func addDevice(store Store, inserts prometheus.Observer) func(call) (content, error) {
	return func(c call) (content, error) {
		if err := requireJSON(c.contentType()); err != nil {
			return content{}, err
		}
		d, err := decodeDevice(c.body())
		if err != nil {
			return content{}, err
		}
		d.ID = uuid.NewString()
		if err := insert(store, d, inserts); err != nil {
			return content{}, refusef(http.StatusServiceUnavailable, "keep the device: %v", err)
		}
		return encode(d)
	}
}

// crypto.randomUUID of Node.js and Bun takes random bytes for many UUIDs from the
// kernel at once. So does this one then, instead of reading 16 for each.
func init() { uuid.EnableRandPool() }

// insertPatience is how long an insert may take, its wait for a connection
// included.
const insertPatience = 5 * time.Second

// insert keeps d and observes how long that took, well or not. A client that
// hangs up does not end it: drivers of databases close the connection of what
// is cancelled, and an overloaded service would drown in new ones.
func insert(store Store, d Device, took prometheus.Observer) error {
	ctx, cancel := context.WithTimeout(context.Background(), insertPatience)
	defer cancel()
	begun := time.Now()
	err := store.Insert(ctx, d)
	took.Observe(time.Since(begun).Seconds())
	return err
}

// maxBody is the largest body that POST /devices takes, in bytes.
const maxBody = 64 << 10

// maxFirmware is the longest firmware version, in bytes.
const maxFirmware = 32

func requireJSON(contentType string) error {
	const want = "application/json"
	if contentType == want { // nearly always, and for nothing
		return nil
	}
	if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != want {
		return refusef(http.StatusUnsupportedMediaType, "the body must be %s", want)
	}
	return nil
}

// decodeDevice reads one JSON object {"mac", "firmware"} and nothing behind it,
// and returns it as a device without an ID. Its errors are all refusals: 413
// for a body over the limit of an http.MaxBytesReader, else 400.
func decodeDevice(body io.Reader) (Device, error) {
	var in struct {
		MAC      string `json:"mac"`
		Firmware string `json:"firmware"`
	}
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return Device{}, refuseBody(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Device{}, refuseBody(err)
	}
	// ParseMAC also knows longer addresses and dotted ones, of other lengths.
	if _, err := net.ParseMAC(in.MAC); err != nil || len(in.MAC) != len("00-00-5E-00-53-01") {
		return Device{}, refusef(http.StatusBadRequest, `"mac" must be six octets in hexadecimal, as 00-00-5E-00-53-01`)
	}
	if !isVersion(in.Firmware) {
		return Device{}, refusef(http.StatusBadRequest,
			`"firmware" must be 1 to %d letters, digits or any of . _ + -`, maxFirmware)
	}
	return Device{MAC: in.MAC, Firmware: in.Firmware}, nil
}

// refuseBody returns why a body could not be decoded; a nil err means a second value
// after the first.
func refuseBody(err error) *refusal {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refusef(http.StatusRequestEntityTooLarge, "the body must not be over %d bytes", maxBody)
	}
	switch {
	case err == nil:
		return refusef(http.StatusBadRequest, "the body must be one JSON object, with nothing behind it")
	case errors.Is(err, io.EOF):
		return refusef(http.StatusBadRequest, `the body is empty; send {"mac": …, "firmware": …}`)
	}
	return refusef(http.StatusBadRequest, "the body cannot be read: %v", err)
}

func isVersion(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.', c == '_', c == '+', c == '-':
		default:
			return false
		}
	}
	return 1 <= len(s) && len(s) <= maxFirmware
}
