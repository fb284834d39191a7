package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/test/testkit"
)

// An old go line under a limit that a parent group sets: all that is to be found.
func TestRealGoThatDoesNotSeeItsLimit(t *testing.T) {
	several(t)
	c := newCage(t, 0.2, 0)
	c.start("ready", nil, built(t, "1.23"), "busy")
	c.watched()
	procs := runtime.NumCPU()
	found(t, c, []string{
		fmt.Sprintf("parallelism %d exceeds the limit of 200m CPU: throttled in ", procs),
		"but its go.mod says go 1.23: not container-aware (DefaultGODEBUG containermaxprocs=0)",
		"limit of 200m CPU comes from the parent group /millicore-testkit-",
	}, nil)
}

// The same program sized right, and a new one where nothing is to be found.
func TestRealGoThatIsWell(t *testing.T) {
	several(t)
	t.Run("an old go line with GOMAXPROCS=1", func(t *testing.T) {
		c := newCage(t, 0, 1)
		c.start("ready", []string{"GOMAXPROCS=1"}, built(t, "1.23"))
		found(t, c, nil, []string{"warning", "critical", "info"})
	})
	t.Run("a new go line under a limit of 2", func(t *testing.T) {
		c := newCage(t, 0, 2)
		c.start("ready", nil, built(t, "1.25"))
		found(t, c, nil, []string{"warning", "critical", "info"})
	})
	t.Run("no limit", func(t *testing.T) {
		c := newCage(t, 0, 0)
		c.start("ready", nil, built(t, "1.23"))
		found(t, c, nil, []string{"warning", "critical", "info"})
	})
}

func TestRealGoAtItsMinimum(t *testing.T) {
	several(t)
	const minimum = "limit of %s with GOMAXPROCS 2, the runtime's minimum"
	t.Run("idle", func(t *testing.T) {
		c := newCage(t, 0, 1) // not lower: to start is work, and that would be throttled
		c.start("ready", nil, built(t, "1.25", "-ldflags=-s -w", "-buildmode=pie"))
		found(t, c, []string{"info: " + fmt.Sprintf(minimum, "1 CPU")}, []string{"warning", "container-aware"})
	})
	t.Run("busy", func(t *testing.T) {
		c := newCage(t, 0, 0.2)
		c.start("ready", nil, built(t, "1.25"), "busy")
		c.watched()
		found(t, c, []string{"warning: " + fmt.Sprintf(minimum, "200m CPU") + ": throttled in "}, []string{"critical", "container-aware"})
	})
}

// A program that believes in eight CPUs, as it would on a host that has them.
func TestRealGoOnAHostOfMoreCPUs(t *testing.T) {
	several(t)
	strace := installed(t, "strace")
	c := newCage(t, 0, 0)
	c.start("ready", nil, strace, "-f", "-o", "/dev/null", "-e", "trace=sched_getaffinity",
		"-e", "inject=sched_getaffinity:poke_exit=@arg3=ff", built(t, "1.23"))
	c.limit(1) // only now: to start is work, and under strace much of it, which would be throttled
	text := c.examined()
	if !strings.Contains(text, "parallelism ") {
		t.Skipf("needs an strace that can inject into memory: found %q", text)
	}
	found(t, c, []string{
		"info: parallelism 8 exceeds the limit of 1 CPU: under load it can be throttled for ",
		"info: binary built with Go 1.", "go.mod says go 1.23",
	}, nil)
}

// A new go line sees its own group's limit alone: not one that is set above.
func TestRealGoUnderALimitFromAbove(t *testing.T) {
	several(t)
	c := newCage(t, 0.2, 0)
	c.start("ready", nil, built(t, "1.25", "-ldflags=-s -w"), "busy")
	c.watched()
	level := "warning"
	if runtime.NumCPU() <= 2 { // less than two is not advised
		level = "info"
	}
	found(t, c, []string{
		fmt.Sprintf("parallelism %d exceeds the limit of 200m CPU: throttled in ", runtime.NumCPU()),
		level + ": limit of 200m CPU comes from the parent group /millicore-testkit-",
	}, []string{"container-aware", "minimum"})
}

func TestRealNode(t *testing.T) {
	node := installed(t, "node")
	c := newCage(t, 0, 1)
	c.start("ready", nil, node, "-e", `require("http").createServer().listen(0, "127.0.0.1", () => console.log("ready"))`)
	found(t, c, nil, []string{"parallelism", "container-aware", "parent group"})
}

func TestRealNodeThatUsesItsLimitUp(t *testing.T) {
	node := installed(t, "node")
	c := newCage(t, 0, 0.1)
	c.start("ready", nil, node, "-e", `console.log("ready"); for (;;) {}`)
	c.watched()
	found(t, c, []string{"limit of 100m CPU used up ("}, []string{"parallelism", "container-aware"})
}

// The threads that a program starts itself are seen by what they did.
func TestRealNodeWithWorkerThreads(t *testing.T) {
	several(t)
	node := installed(t, "node")
	c := newCage(t, 0, 0.4)
	c.start("ready", nil, node, "-e", `const { Worker } = require("node:worker_threads");
for (let i = 0; i < 2; i++) new Worker("for (;;) {}", { eval: true });
console.log("ready")`)
	c.watched()
	found(t, c, []string{"parallelism 2 exceeds the limit of 400m CPU: throttled in "}, []string{"container-aware"})
}

// One thread under a limit of one CPU is not throttled, and has no CPU time left.
func TestRealSaturationWithoutThrottling(t *testing.T) {
	python := installed(t, "python3")
	c := newCage(t, 0, 1)
	c.start("ready", nil, python, "-u", "-c", "print('ready')\nwhile True: pass")
	c.watched()
	found(t, c, []string{"limit of 1 CPU used up ("}, []string{"parallelism"})
}

func TestRealBun(t *testing.T) {
	bun := installed(t, "bun")
	t.Run("idle", func(t *testing.T) {
		c := newCage(t, 0, 1)
		c.start("ready", nil, bun, "-e", `console.log("ready"); setInterval(() => {}, 1000)`)
		found(t, c, nil, []string{"warning", "critical", "info"})
	})
	t.Run("under a limit from above, which it uses up", func(t *testing.T) {
		c := newCage(t, 0.1, 0)
		c.start("ready", nil, bun, "-e", `console.log("ready"); for (;;) {}`)
		c.watched()
		found(t, c, []string{"limit of 100m CPU used up ("}, []string{"parallelism", "container-aware", "parent group"})
	})
}

func TestRealJava(t *testing.T) {
	several(t)
	java := installed(t, "java")
	source := filepath.Join(t.TempDir(), "Wait.java")
	text := `public class Wait {
  public static void main(String[] a) throws Exception {
    System.out.println("ready");
    Thread.sleep(600000);
  }
}
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("as it is", func(t *testing.T) {
		c := newCage(t, 0, 1)
		c.start("ready", nil, java, source)
		found(t, c, nil, []string{"parallelism"})
	})
	t.Run("with ActiveProcessorCount", func(t *testing.T) {
		c := newCage(t, 0, 1)
		c.start("ready", []string{"JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=8"}, java, source)
		found(t, c, []string{"parallelism 8 exceeds the limit of 1 CPU"}, []string{"container-aware"})
	})
}

func TestRealPython(t *testing.T) {
	python := installed(t, "python3")
	c := newCage(t, 0, 1)
	c.start("ready", nil, python, "-u", "-c", "import time; print('ready'); time.sleep(600)")
	found(t, c, nil, []string{"parallelism", "answers", "parent group"})
}

func TestRealNginx(t *testing.T) {
	several(t)
	nginx := installed(t, "nginx")
	dir := t.TempDir()
	conf := filepath.Join(dir, "nginx.conf")
	text := "pid " + dir + "/pid;\nerror_log stderr;\nworker_processes 8;\nevents {}\nhttp {\n access_log off;\n client_body_temp_path " + dir +
		"/a;\n proxy_temp_path " + dir + "/b;\n fastcgi_temp_path " + dir + "/c;\n uwsgi_temp_path " + dir + "/d;\n scgi_temp_path " + dir +
		"/e;\n server { listen unix:" + dir + "/s; }\n}\n"
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c := newCage(t, 0, 1)
	c.start("", nil, nginx, "-c", conf, "-g", "daemon off;")
	// A worker is a copy of the master until it sets its title.
	testkit.Until(t, "nginx has eight workers", func() bool {
		workers := 0
		for _, pid := range c.pids() {
			title, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if strings.HasPrefix(string(title), "nginx: worker") {
				workers++
			}
		}
		return workers == 8
	})
	found(t, c, []string{"parallelism 8 exceeds the limit of 1 CPU"}, nil)
	if n := strings.Count(c.examined(), "parallelism"); n != 1 {
		t.Errorf("%d findings about one service", n)
	}
}

// Of another user's process without the rights to look into it, that is said and
// nothing guessed: the runtime is unknown, and so is what it runs at once.
func TestRealProcessOfAnotherUser(t *testing.T) {
	c := newCage(t, 0, 0.2)
	pid := c.start("ready", nil, built(t, "1.23"))
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestHelperOfAnotherUser$", "-test.v")
	cmd.Env = append(os.Environ(), "MILLICORE_DOCTOR_PID="+strconv.Itoa(pid))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("needs to run itself as another user: %v: %s", err, out)
	}
	for _, want := range []string{"runtime unknown, parallelism 0, limit 0.2", "permission denied; run as the process's user or as root"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("not said: %q; said:\n%s", want, out)
		}
	}
}

// TestHelperOfAnotherUser is what the other user sees.
func TestHelperOfAnotherUser(t *testing.T) {
	pid, err := strconv.Atoi(os.Getenv("MILLICORE_DOCTOR_PID"))
	if err != nil {
		t.Skip("a helper of another test")
	}
	host, err := inspect.New("").Scan(context.Background(), inspect.Only{PID: pid}, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := host.Processes[0]
	fmt.Printf("runtime %s, parallelism %d, limit %v\n%s\n", p.Info.Runtime, p.Info.Parallelism.Value, p.CPU.CPUs, strings.Join(p.Unseen, "\n"))
	for _, f := range Examine(host) {
		if strings.Contains(f.Title, "parallelism") {
			t.Errorf("guessed: %s", f.Title)
		}
	}
}
