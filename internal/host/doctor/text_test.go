package doctor

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// seen is a host with a throttled service, and a process that could not be seen.
func seen() inspect.Host {
	p := watched(goService(8, 2), 157, 412, 0.95)
	p.Info.Env = map[string]string{"GOMAXPROCS": "8"}
	p.Memory = inspect.Memory{State: inspect.Limited, Limit: 256 << 20, SetBy: "/pods/api"}
	hidden := func(pid int) inspect.Process {
		return inspect.Process{
			PID: pid, Name: "hidden", User: -1, Info: runtimes.Info{Runtime: runtimes.Unknown}, CPU: inspect.CPULimit{State: inspect.Unlimited},
			Unseen: []string{
				"its environment could not be read: permission denied; run as the process's user or as root",
				"its executable could not be read: permission denied; run as the process's user or as root",
			},
		}
	}
	return inspect.Host{Online: 8, Watched: 50 * time.Second, Processes: []inspect.Process{ruled(p), hidden(7), hidden(8)}}
}

func TestText(t *testing.T) {
	const want = `critical  api (pid 42): parallelism 8 exceeds the limit of 2 CPUs: throttled in 38% of 412 periods
          · Go 1.26.8: parallelism 8, read (runtime.gomaxprocs in the process's memory);
            GOMAXPROCS=8 is set
          · limit of 2 CPUs (200 ms in each 100 ms) set by its own group /pods/api
          · watched for 50 s: 157 of 412 periods throttled (500 elapsed), 41.0 ms each, summed over
            the CPUs, 95% of the limit used; since the group was created: 157 of 412 periods
            throttled, 41.0 ms each, summed over the CPUs
          · 8 running threads use up the quota in 25.0 ms and are then throttled for 75.0 ms of each
            100 ms
          · about 2.4 threads ran at once in throttled periods, and shared a limit of 2 CPUs
          · cause: more threads than the limit has CPUs use the quota up early; then the kernel
            stops all threads until the next period, and the requests in work and those that arrive
            wait
          → try GOMAXPROCS=2
          → verify: millicore try --cpu 2 --memory 256Mi --env GOMAXPROCS=8 -- /app/api --port 80
          → expected at saturation: lower p99, about the same throughput; at 60% of that load:
            little change; confidence medium

2 processes: its environment, its executable could not be read: permission denied; run as the
process's user or as root.
`
	host := seen()
	var b bytes.Buffer
	if err := Text(&b, host, Examine(host), display.Terminal{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Groups and commands are broken at spaces only: they are there to be copied.
func TestTextOfHyphens(t *testing.T) {
	f := Finding{Name: "api", Title: "a", Evidence: []string{"set by /kubepods-besteffort-pod7d9f.slice/cri-containerd-0123456789.scope"},
		Fix: []string{"verify: millicore try --cpu 2 -- /app/the-service --listen-address 127.0.0.1"}}
	text := Paragraphs([]Finding{f}, display.Terminal{Width: 84})
	for _, want := range []string{"/kubepods-besteffort-pod7d9f.slice/cri-containerd-0123456789.scope", "--listen-address"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is broken in\n%s", want, text)
		}
	}
}

func TestTextOfNothing(t *testing.T) {
	for want, host := range map[string]inspect.Host{
		"":                                  {Processes: []inspect.Process{goService(2, 2)}},
		"Process 42: it may not be seen.\n": {Processes: []inspect.Process{{PID: 42, CPU: inspect.CPULimit{State: inspect.Limited}, Unseen: []string{"it may not be seen"}}}},
	} {
		var b bytes.Buffer
		if err := Text(&b, host, Examine(host), display.Terminal{}); err != nil || b.String() != want {
			t.Errorf("got %q, %v; want %q", b.String(), err, want)
		}
	}
}

// The name includes the container, which distinguishes processes of the same name.
// A hostile process has one line, and many of them have a bounded number of lines.
func TestTextOfHostileProcesses(t *testing.T) {
	var host inspect.Host
	for pid := range mostRefused + 3 {
		host.Processes = append(host.Processes, inspect.Process{PID: pid + 1, Name: "a\x1b[31m", Refused: "x is a named\npipe", Unseen: []string{"its limit could not be read: x"}})
	}
	var b strings.Builder
	if err := Text(&b, host, nil, display.Terminal{}); err != nil {
		t.Fatal(err)
	}
	text := "\n" + b.String()
	if n := strings.Count(text, "\nCould not inspect "); n != mostRefused+1 || strings.Contains(text, "its limit") ||
		!strings.Contains(text, "\nCould not inspect 1 a␛[31m: x is a named pipe.\n") || !strings.Contains(text, "\nCould not inspect 3 processes more;") {
		t.Errorf("got\n%s", text)
	}
}

func TestTextNamesTheContainer(t *testing.T) {
	host := seen()
	host.Processes[0].Container = "cart"
	var b bytes.Buffer
	if err := Text(&b, host, Examine(host), display.Terminal{}); err != nil || !strings.Contains(b.String(), "critical  cart/api (pid 42): parallelism 8") {
		t.Errorf("got %v\n%s", err, b.String())
	}
}

// What a process calls itself cannot write to the terminal.
func TestTextOfForeignWords(t *testing.T) {
	host := seen()
	host.Processes[0].Name = "a\x1b[31m\nb"
	host.Processes[0].Command = []string{"/a'b", "$(reboot)", "\x1b]0;title\a"}
	var b bytes.Buffer
	if err := Text(&b, host, Examine(host), display.Terminal{}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "\x1b") || !strings.Contains(text, `-- '/a'\''b' '$(reboot)' '␛]0;title␇'`) {
		t.Errorf("got %s", text)
	}
}
