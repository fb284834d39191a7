package paragraphs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
)

// seen are a host with a throttled service and processes that could not be seen, and a finding.
func seen() (inspect.Host, []doctor.Finding) {
	hidden := func(pid int) inspect.Process {
		return inspect.Process{
			PID: pid, Name: "hidden", User: -1,
			Unseen: []string{
				"its environment could not be read: permission denied; run as the process's user or as root",
				"its executable could not be read: permission denied; run as the process's user or as root",
			},
		}
	}
	return inspect.Host{Processes: []inspect.Process{{PID: 42, Name: "api"}, hidden(7), hidden(8)}}, []doctor.Finding{{
		Level: doctor.Critical, PID: 42, Name: "api", Title: "parallelism 8 exceeds the limit of 2 CPUs: throttled in 38% of 412 periods",
		Evidence: []string{
			"Go 1.26.8: parallelism 8, read (runtime.gomaxprocs in the process's memory); GOMAXPROCS=8 is set",
			"limit of 2 CPUs (200 ms in each 100 ms) set by its own group /pods/api",
		},
		Mechanism:  "more threads than the limit has CPUs use the quota up early; then the kernel stops all threads until the next period",
		Fix:        []string{"try GOMAXPROCS=2", "verify: millicore try --cpu 2 --memory 256Mi --env GOMAXPROCS=8 -- /app/api --port 80"},
		Expect:     doctor.Effect{Saturated: "lower p99, about the same throughput", Ordinary: "little change"},
		Confidence: doctor.Medium,
	}}
}

func TestText(t *testing.T) {
	const want = `critical  api (pid 42): parallelism 8 exceeds the limit of 2 CPUs: throttled in 38% of 412 periods
          · Go 1.26.8: parallelism 8, read (runtime.gomaxprocs in the process's memory);
            GOMAXPROCS=8 is set
          · limit of 2 CPUs (200 ms in each 100 ms) set by its own group /pods/api
          · cause: more threads than the limit has CPUs use the quota up early; then the kernel
            stops all threads until the next period
          → try GOMAXPROCS=2
          → verify: millicore try --cpu 2 --memory 256Mi --env GOMAXPROCS=8 -- /app/api --port 80
          → expected at saturation: lower p99, about the same throughput; at 60% of that load:
            little change; confidence medium

2 processes: its environment, its executable could not be read: permission denied; run as the
process's user or as root.
`
	host, found := seen()
	var b bytes.Buffer
	if err := Write(&b, host, found, display.Terminal{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Groups and commands are broken at spaces only: they are there to be copied.
func TestTextOfHyphens(t *testing.T) {
	f := doctor.Finding{Name: "api", Title: "a", Evidence: []string{"set by /kubepods-besteffort-pod7d9f.slice/cri-containerd-0123456789.scope"},
		Fix: []string{"verify: millicore try --cpu 2 -- /app/the-service --listen-address 127.0.0.1"}}
	text := of([]doctor.Finding{f}, display.Terminal{Width: 84})
	for _, want := range []string{"/kubepods-besteffort-pod7d9f.slice/cri-containerd-0123456789.scope", "--listen-address"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is broken in\n%s", want, text)
		}
	}
}

func TestTextOfNothing(t *testing.T) {
	for want, host := range map[string]inspect.Host{
		"":                                  {Processes: []inspect.Process{{PID: 42, Name: "api"}}},
		"Process 42: it may not be seen.\n": {Processes: []inspect.Process{{PID: 42, CPU: inspect.CPULimit{State: inspect.Limited}, Unseen: []string{"it may not be seen"}}}},
	} {
		var b bytes.Buffer
		if err := Write(&b, host, nil, display.Terminal{}); err != nil || b.String() != want {
			t.Errorf("got %q, %v; want %q", b.String(), err, want)
		}
	}
}

// A hostile process has one line, and many of them have a bounded number of lines.
func TestTextOfHostileProcesses(t *testing.T) {
	var host inspect.Host
	for pid := range mostRefused + 3 {
		host.Processes = append(host.Processes, inspect.Process{PID: pid + 1, Name: "a\x1b[31m", Refused: "x is a named\npipe", Unseen: []string{"its limit could not be read: x"}})
	}
	var b strings.Builder
	if err := Write(&b, host, nil, display.Terminal{}); err != nil {
		t.Fatal(err)
	}
	text := "\n" + b.String()
	if n := strings.Count(text, "\nCould not inspect "); n != mostRefused+1 || strings.Contains(text, "its limit") ||
		!strings.Contains(text, "\nCould not inspect 1 a␛[31m: x is a named pipe.\n") || !strings.Contains(text, "\nCould not inspect 3 processes more;") {
		t.Errorf("got\n%s", text)
	}
}

// What a process calls itself cannot write to the terminal.
func TestTextOfForeignWords(t *testing.T) {
	host, found := seen()
	found[0].Name, found[0].Title, found[0].Evidence[0] = "cart/a\x1b[31m\nb", "x\x1b[1m", "\x1b]0;title\a"
	found[0].Mechanism, found[0].Fix[0] = "\x1b[2J", "\x1b[2J"
	var b bytes.Buffer
	if err := Write(&b, host, found, display.Terminal{}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "\x1b") || !strings.Contains(text, "cart/a␛[31m b (pid 42)") || !strings.Contains(text, "· ␛]0;title␇") {
		t.Errorf("got %s", text)
	}
}
