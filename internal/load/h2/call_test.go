package h2

import "testing"

// The status of a call is that of the last header block, which is the first one if the call
// failed at once; a client that does not know a code takes it for UNKNOWN.
func TestStatusOfACall(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(f *frames)
		want   string
	}{
		"in trailers": {func(f *frames) {
			f.head(1, false, ":status 200")
			f.WriteData(1, false, []byte("\x00\x00\x00\x00\x00"))
			f.head(1, true, "grpc-status 14", "grpc-message all%20gone")
		}, "14 all%20gone"},
		"in trailers only":  {func(f *frames) { f.head(1, true, ":status 200", "grpc-status 12") }, "12 "},
		"success":           {func(f *frames) { f.head(1, false, ":status 200"); f.head(1, true, "grpc-status 0") }, "0 "},
		"a retry later":     {func(f *frames) { f.head(1, true, ":status 200", "grpc-status 14", "grpc-retry-pushback-ms 50") }, "14  later"},
		"a code of 17":      {func(f *frames) { f.head(1, true, ":status 200", "grpc-status 17") }, "2 "},
		"a code that is -1": {func(f *frames) { f.head(1, true, ":status 200", "grpc-status -1") }, "2 "},
		"none":              {func(f *frames) { f.head(1, true, ":status 200") }, ""},
		"in the head of an answer with a body": {func(f *frames) {
			f.head(1, false, ":status 200", "grpc-status 0")
			f.WriteData(1, true, []byte("x"))
		}, ""},
	} {
		got := newAnswers()
		conn := New(got)
		request(t, conn, 7, "POST /a.B/C HTTP/1.1\nHost: here", "")
		f := newFrames()
		c.answer(f)
		if err := f.take(conn); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if how, ended := got.ended[7]; got.calls[7] != c.want || !ended || how != Whole {
			t.Errorf("%s: the call's status is %q, ended %t %d; want %q, ended whole", name, got.calls[7], ended, how, c.want)
		}
	}
}
