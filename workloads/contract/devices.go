package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// fixedList is what GET /devices answers, byte for byte.
const fixedList = `[` +
	`{"id":"1f0a5b52-6d4e-4c0b-9a39-0d1b7c5e2a01","mac":"00-00-5E-00-53-01","firmware":"2.1.6"},` +
	`{"id":"2c9d7f10-83b7-4f5e-8b1c-5e6f7a8b9c02","mac":"00-00-5E-00-53-02","firmware":"2.1.5"},` +
	`{"id":"3e8b6a21-94c8-4d6f-9c2d-6f708b9cad03","mac":"00-00-5E-00-53-03","firmware":"2.1.5"},` +
	`{"id":"4d7a5b32-a5d9-4e70-8d3e-70819cadbe04","mac":"00-00-5E-00-53-04","firmware":"2.1.5"},` +
	`{"id":"5c694c43-b6ea-4f81-9e4f-8192adbecf05","mac":"00-00-5E-00-53-05","firmware":"2.1.2"},` +
	`{"id":"6b583d54-c7fb-4092-8f50-92a3becfd006","mac":"00-00-5E-00-53-06","firmware":"2.1.1"},` +
	`{"id":"7a472e65-d80c-41a3-9061-a3b4cfd0e107","mac":"00-00-5E-00-53-07","firmware":"2.1.6"},` +
	`{"id":"89361f76-e91d-42b4-8172-b4c5d0e1f208","mac":"00-00-5E-00-53-08","firmware":"2.1.4"},` +
	`{"id":"98250087-fa2e-43c5-9283-c5d6e1f20309","mac":"00-00-5E-00-53-09","firmware":"2.2.0"},` +
	`{"id":"a714f198-0b3f-44d6-8394-d6e7f203140a","mac":"00-00-5E-00-53-0A","firmware":"2.2.0"}` +
	`]`

const validDevice = `{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`

// maxBody is the largest body of POST /devices, in bytes.
const maxBody = 65_536

func (s service) listsDevices(t *testing.T) {
	s.get(t, "/devices").wantJSON(t, http.StatusOK, fixedList)
	s.get(t, "/devices?page=2").wantJSON(t, http.StatusOK, fixedList)
}

func (s service) addsDevice(t *testing.T) {
	for name, c := range map[string]struct{ contentType, mac, firmware string }{
		"dashes":                      {jsonType, "00-00-5E-00-53-FF", "2.1.6"},
		"colons and lower case":       {jsonType, "00:00:5e:00:53:ff", "2.1.6"},
		"content type with a charset": {"application/json; charset=utf-8", "00-00-5E-00-53-FF", "1"},
		"firmware of every kind":      {jsonType, "00-00-5E-00-53-FF", "v2.1.6-rc_1+Build9"},
		"firmware of 32 bytes":        {jsonType, "00-00-5E-00-53-FF", strings.Repeat("9", 32)},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.do(t, request{http.MethodPost, "/devices", c.contentType,
				"\n{\"firmware\": \"" + c.firmware + "\",\t\"mac\": \"" + c.mac + "\"}\n"})
			r.wantJSONHeaders(t, http.StatusCreated)
			id := idOf(t, r)
			r.wantJSON(t, http.StatusCreated, `{"id":"`+id+`","mac":"`+c.mac+`","firmware":"`+c.firmware+`"}`)
		})
	}
}

func (s service) addsDevicesAtOnce(t *testing.T) {
	const devices = 50
	replies := s.atOnce(t, slices.Repeat([]request{{http.MethodPost, "/devices", jsonType, validDevice}}, devices))
	seen := make(map[string]bool)
	for _, r := range replies {
		r.wantJSONHeaders(t, http.StatusCreated)
		seen[idOf(t, r)] = true
	}
	if len(seen) != devices {
		t.Errorf("%d devices got %d UUIDs", devices, len(seen))
	}
}

// idOf returns the id of a device that was added, having checked that it is a
// random UUID in its usual form.
func idOf(t *testing.T, r reply) string {
	t.Helper()
	var device struct {
		ID       string `json:"id"`
		MAC      string `json:"mac"`
		Firmware string `json:"firmware"`
	}
	strictly(t, r.body, &device)
	id, err := uuid.Parse(device.ID)
	if err != nil || id.String() != device.ID || id.Version() != 4 || id.Variant() != uuid.RFC4122 {
		t.Fatalf("id %q is not a UUID of version 4 in lower case", device.ID)
	}
	return device.ID
}

func (s service) refusesDevice(t *testing.T) {
	for name, c := range map[string]struct {
		contentType, body string
		status            int
	}{
		"no body":                    {jsonType, ``, 400},
		"white space alone":          {jsonType, " \n", 400},
		"no JSON":                    {jsonType, `mac=1`, 400},
		"cut off":                    {jsonType, `{"mac":"00-00-5E-00-53-FF",`, 400},
		"null":                       {jsonType, `null`, 400},
		"a list":                     {jsonType, `[` + validDevice + `]`, 400},
		"a string":                   {jsonType, `"00-00-5E-00-53-FF"`, 400},
		"a second object":            {jsonType, validDevice + validDevice, 400},
		"something behind":           {jsonType, validDevice + "]", 400},
		"no key":                     {jsonType, `{}`, 400},
		"no mac":                     {jsonType, `{"firmware":"2.1.6"}`, 400},
		"no firmware":                {jsonType, `{"mac":"00-00-5E-00-53-FF"}`, 400},
		"an unknown key":             {jsonType, `{"mac":"00-00-5E-00-53-FF","firmware":"2.1.6","colour":"red"}`, 400},
		"an id of the client's":      {jsonType, `{"id":"1","mac":"00-00-5E-00-53-FF","firmware":"2.1.6"}`, 400},
		"mac is a number":            {jsonType, `{"mac":5,"firmware":"2.1.6"}`, 400},
		"mac is null":                {jsonType, `{"mac":null,"firmware":"2.1.6"}`, 400},
		"mac of five octets":         {jsonType, `{"mac":"00-00-5E-00-53","firmware":"2.1.6"}`, 400},
		"mac of eight octets":        {jsonType, `{"mac":"00-00-5E-00-53-FF-00-00","firmware":"2.1.6"}`, 400},
		"mac with dots":              {jsonType, `{"mac":"0000.5e00.53ff","firmware":"2.1.6"}`, 400},
		"mac of both separators":     {jsonType, `{"mac":"00-00-5E:00-53-FF","firmware":"2.1.6"}`, 400},
		"mac not in hexadecimal":     {jsonType, `{"mac":"00-00-5E-00-53-FG","firmware":"2.1.6"}`, 400},
		"firmware is empty":          {jsonType, `{"mac":"00-00-5E-00-53-FF","firmware":""}`, 400},
		"firmware is a number":       {jsonType, `{"mac":"00-00-5E-00-53-FF","firmware":2.1}`, 400},
		"firmware of 33 bytes":       {jsonType, `{"mac":"00-00-5E-00-53-FF","firmware":"` + strings.Repeat("9", 33) + `"}`, 400},
		"firmware with a space":      {jsonType, `{"mac":"00-00-5E-00-53-FF","firmware":"2 1"}`, 400},
		"firmware outside ASCII":     {jsonType, `{"mac":"00-00-5E-00-53-FF","firmware":"２.1.6"}`, 400},
		"firmware is no UTF-8":       {jsonType, "{\"mac\":\"00-00-5E-00-53-FF\",\"firmware\":\"2\xff\"}", 400},
		"no content type":            {"", validDevice, 415},
		"a form":                     {"application/x-www-form-urlencoded", validDevice, 415},
		"text":                       {"text/plain", validDevice, 415},
		"a type that begins alike":   {"application/json-patch+json", validDevice, 415},
		"a content type that is not": {"json;;", validDevice, 415},
	} {
		t.Run(name, func(t *testing.T) {
			s.do(t, request{http.MethodPost, "/devices", c.contentType, c.body}).wantRefusal(t, c.status)
		})
	}
}

func (s service) limitsBody(t *testing.T) {
	padded := func(size int) string {
		return validDevice + strings.Repeat(" ", size-len(validDevice))
	}
	s.post(t, "/devices", padded(maxBody)).wantJSONHeaders(t, http.StatusCreated)
	s.post(t, "/devices", padded(maxBody+1)).wantRefusal(t, http.StatusRequestEntityTooLarge)

	long := `{"mac":"` + strings.Repeat("0", maxBody) + `"}`
	s.post(t, "/devices", long).wantRefusal(t, http.StatusRequestEntityTooLarge)

	// Without a Content-Length the service learns the size only as it reads.
	chunked, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/devices",
		struct{ *strings.Reader }{strings.NewReader(padded(maxBody + 1))})
	if err != nil {
		t.Fatal(err)
	}
	chunked.ContentLength = -1
	chunked.Header.Set("Content-Type", jsonType)
	s.send(t, chunked).wantRefusal(t, http.StatusRequestEntityTooLarge)
}
