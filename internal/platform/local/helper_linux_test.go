package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// helper is the argument by which this test's program is something else: a
// service, or a millicore that is about to be killed.
const helper = "__helper"

// exit ends a helper at once: the race detector has os.Exit wait for a second.
var exit = syscall.Exit

func TestMain(m *testing.M) {
	Shim(os.Args)
	if os.Args[0] == agentProgram {
		io.Copy(os.Stdout, os.Stdin) // an agent that says what it hears
		fmt.Fprintln(os.Stderr, "the input ended")
		exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == helper {
		helpers[os.Args[2]](os.Args[3:])
		exit(0)
	}
	os.Unsetenv("SUDO_UID") // a test that is about sudo sets it
	os.Unsetenv("GORACE")   // of make test: a variable like it has a note
	os.Exit(m.Run())
}

var helpers = map[string]func([]string){
	"serve":    func([]string) { serveHelper() },
	"stubborn": func([]string) { stubbornHelper() },
	"dying": func([]string) {
		fmt.Println("line one")
		fmt.Fprintln(os.Stderr, "line two")
		exit(7)
	},
	"say":     func(args []string) { fmt.Println(strings.Join(args, " ")) },
	"suicide": func([]string) { syscall.Kill(os.Getpid(), syscall.SIGTERM); stay() },
	"leave":   func(args []string) { exec.Command("/proc/self/exe", append([]string{helper}, args...)...).Start() },
	"write": func(args []string) {
		if err := os.WriteFile(args[0], []byte("mine\n"), 0o644); err != nil {
			fmt.Println(err)
			exit(3)
		}
		stay()
	},
	"listen":     listenHelper,
	"background": func(args []string) { backgroundHelper(args) },
	"reopen":     func([]string) { reopenHelper() },
	"fork":       func([]string) { forkHelper() },
	"hungry":     func([]string) { eat() },
	"deaf":       func([]string) { fmt.Println("I do not listen"); stay() },
	"once":       func(args []string) { onceHelper(args[0]) },
	"lab":        func(args []string) { labHelper(args[0], args[1]) },
	"working":    func(args []string) { workingHelper(args[0]) },
	"nobody-lab": func(args []string) { nobodyLabHelper(args[0], args[1]) },
}

// serveHelper is a service: each of its paths is a way to behave badly.
func serveHelper() {
	term := make(chan os.Signal, 8)
	signal.Notify(term, syscall.SIGTERM)
	listener, err := net.Listen("tcp", ":"+os.Getenv("PORT"))
	if err != nil {
		fmt.Println(err)
		exit(3)
	}
	http.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	http.HandleFunc("/broken", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) })
	http.HandleFunc("/env", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, strings.Join(os.Environ(), "\n")) })
	http.HandleFunc("/args", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, strings.Join(os.Args, " ")) })
	http.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, statusLine(r.URL.RawQuery+":")) })
	http.HandleFunc("/exit", func(w http.ResponseWriter, r *http.Request) { exit(9) })
	http.HandleFunc("/eat", func(w http.ResponseWriter, r *http.Request) { eat() })
	http.HandleFunc("/cpus", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, statusLine("Cpus_allowed_list:")) })
	http.HandleFunc("/child", func(w http.ResponseWriter, r *http.Request) {
		child := exec.Command("/proc/self/exe", helper, "stubborn")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	http.HandleFunc("/burn", func(w http.ResponseWriter, r *http.Request) {
		for range 2 {
			go func() {
				for {
				}
			}()
		}
	})
	go http.Serve(listener, nil)
	<-term
	fmt.Println("goodbye")
	for { // a second signal would be one too many
		select {
		case <-term:
			fmt.Println("goodbye again")
		case <-time.After(20 * time.Millisecond):
			exit(0)
		}
	}
}

func statusLine(key string) string {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// stay keeps a helper alive until it is killed.
func stay() { time.Sleep(time.Hour) }

func stubbornHelper() {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("stubborn", os.Getpid())
	stay()
}

// reopenHelper writes to its output by the name of the file, as nginx does with
// access_log /dev/stdout.
func reopenHelper() {
	out, err := os.OpenFile("/dev/stdout", os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = fmt.Fprintln(out, "opened again")
	}
	if err != nil {
		fmt.Println(err)
		exit(3)
	}
	exit(7)
}

// forkHelper starts processes until the kernel refuses one.
func forkHelper() {
	for {
		if err := exec.Command("/proc/self/exe", helper, "stubborn").Start(); err != nil {
			fmt.Println(err)
			exit(3)
		}
	}
}

// eaten is the memory that eat holds.
var eaten [][]byte

// eat takes memory until the kernel objects.
func eat() {
	for {
		piece := make([]byte, 1<<20)
		for i := 0; i < len(piece); i += 4096 {
			piece[i] = 1
		}
		eaten = append(eaten, piece)
	}
}

// listenHelper does what its arguments say, one after the other, and then waits.
// http:127.0.0.1:80 serves there and has nothing, path: has /healthz, fine: has
// everything, raw: hangs up on everyone, udp: and unix: are no TCP. child:WORD
// leaves a word to a child, life:MARK=A|B is A in the first life and B later.
func listenHelper(args []string) {
	for _, arg := range args {
		if err := listenAs(arg); err != nil {
			fmt.Println(arg, err)
			exit(3)
		}
	}
	for { // any signal ends a pause, the runtime's own to a goroutine among them
		syscall.Pause() // in the kernel: without a goroutine of its own Go takes a select for a deadlock
	}
}

func listenAs(arg string) error {
	kind, address, _ := strings.Cut(arg, ":")
	switch kind {
	case "http", "path", "fine":
		mux := http.NewServeMux()
		mux.HandleFunc("/exit", func(http.ResponseWriter, *http.Request) { exit(9) })
		if kind == "path" {
			mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
		}
		if kind == "fine" {
			mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
		}
		l, err := listenOn(address)
		if err == nil {
			go http.Serve(l, mux)
		}
		return err
	case "raw":
		l, err := listenOn(address)
		if err != nil {
			return err
		}
		go func() {
			for {
				if c, err := l.Accept(); err == nil {
					c.Close()
				}
			}
		}()
		return nil
	case "udp":
		_, err := net.ListenPacket("udp", address)
		return err
	case "unix":
		_, err := net.Listen("unix", address)
		return err
	case "child":
		child := exec.Command("/proc/self/exe", helper, "listen", address)
		child.Stdout = os.Stdout
		return child.Start()
	case "life":
		mark, lives, _ := strings.Cut(address, "=")
		first, later, _ := strings.Cut(lives, "|")
		if os.Mkdir(mark, 0o755) != nil {
			return listenAs(later)
		}
		return listenAs(first)
	}
	return errors.New("what?")
}

// listenOn listens on one kind of address alone, so that [::] is no 0.0.0.0.
func listenOn(address string) (net.Listener, error) {
	if strings.HasPrefix(address, "[") {
		return net.Listen("tcp6", address)
	}
	if strings.HasPrefix(address, ":") {
		return net.Listen("tcp", address)
	}
	return net.Listen("tcp4", address)
}

// backgroundHelper leaves its work to a child, as a daemon does.
func backgroundHelper(args []string) {
	child := exec.Command("/proc/self/exe", append([]string{helper, "listen"}, args...)...)
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		exit(1)
	}
	exit(0)
}

// onceHelper serves if it is the first to make the file mark.
func onceHelper(mark string) {
	if err := os.Mkdir(mark, 0o755); err != nil {
		fmt.Println("I am the second")
		exit(1)
	}
	serveHelper()
}

// labHelper is a millicore that starts a service and then waits for ever.
func labHelper(state, logs string) {
	p, err := New(Options{State: state})
	if err == nil {
		var u platform.Unit
		if u, err = p.Start(context.Background(), server(logs)); err == nil {
			fmt.Println("up", u.Replicas()[0].Address())
			stay()
		}
	}
	fmt.Println(err)
	exit(1)
}

// server is the unit of a service that serves.
func server(logs string) platform.UnitSpec {
	return platform.UnitSpec{
		Trial: 1, Name: "server", Command: []string{"/proc/self/exe", helper, "serve"}, Logs: logs,
		Limits: experiment.Limits{Replicas: 1}, Ready: experiment.Ready{Timeout: testkit.Patience},
	}
}

// doing is a unit whose command does something else.
func doing(t *testing.T, what ...string) platform.UnitSpec {
	u := server(t.TempDir())
	u.Command = append([]string{"/proc/self/exe", helper}, what...)
	return u
}

// notServing is how long a unit that never serves is waited for: long enough for
// its program to start and say what it says, in a slow virtual machine too.
const notServing = 5 * time.Second

// open returns a platform, of which nothing is left when the test is over.
// Where there is no way to cgroups the test is skipped, except in CI.
func open(t *testing.T, o Options) *local {
	t.Helper()
	if o.State == "" {
		o.State = t.TempDir()
	}
	if o.Note == nil {
		o.Note = func(note string) { t.Log("note:", note) }
	}
	p, err := New(o)
	if err != nil {
		testkit.Missing(t, err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		nothingLeft(t, o.State)
	})
	return p.(*local)
}

// nothingLeft checks that a run is over and that no group of this process's is
// left anywhere.
func nothingLeft(t *testing.T, state string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(state, "*"))
	if len(files) > 0 {
		t.Errorf("%v is left", files)
	}
	mine := fmt.Sprintf("millicore-%d-", os.Getpid())
	filepath.WalkDir("/sys/fs/cgroup", func(file string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && strings.HasPrefix(entry.Name(), mine) {
			t.Errorf("%s is left", file)
		}
		return nil
	})
}

func start(t *testing.T, p platform.Platform, u platform.UnitSpec) platform.Unit {
	t.Helper()
	running, err := p.Start(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	return running
}

// get asks the service, which may break off as it answers.
func get(t *testing.T, r platform.Replica, path string) (string, error) {
	t.Helper()
	client := http.Client{Timeout: testkit.Patience}
	answer, err := client.Get("http://" + r.Address() + path)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

// mustGet asks a service that is to answer.
func mustGet(t *testing.T, r platform.Replica, path string) string {
	t.Helper()
	text, err := get(t, r, path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// logOf returns the only log in a folder.
func logOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.log"))
	if err != nil || len(files) != 1 {
		t.Fatalf("logs %v (%v), want one", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// gone reports whether a process has ended; a zombie has.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return true
	}
	fields := strings.Fields(string(stat[slices.Index(stat, ')')+1:]))
	return fields[0] == "Z" || fields[0] == "X"
}
