package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testdata(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The original output of each tool for a good service, and for one that answers 503.
func TestReadingReports(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	h2 := func(out []byte) (report, error) { return readH2load(out, nil) }
	for _, c := range []struct {
		file string
		read func([]byte) (report, error)
		want report
	}{
		{"wrk.txt", readWrk, report{Good: 118506, P50: 822 * us, P99: 5260 * us}},
		{"wrk-bad.txt", readWrk, report{Bad: 41841, P50: 100 * us, P99: 7470 * us}},
		{"h2load.txt", h2, report{Good: 110768}},
		{"h2load-bad.txt", h2, report{Bad: 48829}},
		{"oha.json", readOha, report{Good: 91132, P50: 691_399, P95: 4_959_041, P99: 6_731_957}},
		{"oha-bad.json", readOha, report{Bad: 24872, P50: 223_806, P95: 741_993, P99: 2_408_922}},
		{"fortio.json", readFortio, report{Good: 178, P50: 44_088_262, P95: 52_653_471, P99: 55_314_418}},
		{"fortio-bad.json", readFortio, report{Bad: 100, P50: 2_550_000, P95: 14_000_000, P99: 50_000_000}},
		{"millicore.json", readMillicore, report{Good: 138734, P50: 840 * us, P95: 1400 * us, P99: 2073 * us, Lag: us}},
		{"millicore-bad.json", readMillicore, report{Bad: 30109, Lag: us}},
	} {
		got, err := c.read(testdata(t, c.file))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", c.file, diff)
		}
	}
}

// The quantiles of h2load come from its log: for 200 lines they are the 100th, the
// 190th and the 198th latency.
func TestReadingTheLogOfH2load(t *testing.T) {
	got, err := readH2load(testdata(t, "h2load.txt"), testdata(t, "h2load.log"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (report{Good: 110768, P50: 1273 * time.Microsecond, P95: 3679 * time.Microsecond, P99: 3704 * time.Microsecond}); got != want {
		t.Errorf("%+v; want %+v", got, want)
	}
	if _, err := readH2load(testdata(t, "h2load.txt"), []byte("179\t200\n")); err == nil {
		t.Error("a line without a latency is no error")
	}
}

// The parts of the output of hey and ghz, and of fortio for gRPC, that count.
func TestReadingReportsOfOtherProtocols(t *testing.T) {
	for _, c := range []struct {
		name, out string
		read      func([]byte) (report, error)
		want      report
	}{
		{"hey", "Summary:\n  Total:\t1.0 secs\n\nStatus code distribution:\n  [200]\t190 responses\n  [503]\t7 responses\n\nError distribution:\n  [3]\tGet \"http://127.0.0.1:1/\": dial tcp [::1]:1: connect: connection refused\n",
			readHey, report{Good: 190, Bad: 10}},
		{"ghz", `{"count":12,"statusCodeDistribution":{"OK":9,"Unavailable":3}}`, readGhz, report{Good: 9, Bad: 3}},
		{"fortio of gRPC", `{"RetCodes":{"SERVING":40,"ERROR":2}}`, readFortio, report{Good: 40, Bad: 2}},
	} {
		if got, err := c.read([]byte(c.out)); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

// Unknown output of a tool is an error, not a figure.
func TestReadingWhatIsNoReport(t *testing.T) {
	for name, read := range map[string]func([]byte) (report, error){
		"wrk": readWrk, "oha": readOha, "fortio": readFortio, "hey": readHey, "ghz": readGhz,
		"millicore": readMillicore, "h2load": func(out []byte) (report, error) { return readH2load(out, nil) },
	} {
		for _, out := range []string{"", "unable to connect to 127.0.0.1:1", "{}"} {
			if r, err := read([]byte(out)); err == nil && r.Good != 0 {
				t.Errorf("%s: %q is taken for %+v", name, out, r)
			} else if err == nil && name != "oha" { // it leaves out what is 0
				t.Errorf("%s: %q is no error", name, out)
			}
		}
	}
	few := []byte("  100 requests in 1.00s, 1MB read\n  Socket errors: connect 1, read 2, write 3, timeout 4\n")
	if r, err := readWrk(few); err != nil || r.Bad != 10 || r.Good != 100 {
		t.Errorf("socket errors of wrk: %+v, %v; want 10", r, err)
	}
}
