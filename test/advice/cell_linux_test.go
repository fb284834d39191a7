package advice

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/test/testkit/groups"
)

// cell is a program under a limit with a kind of request.
type cell struct {
	program program
	path    string
	cpus    float64
	memory  int64 // bytes; 0: no limit
	// warm: the program starts and compiles without its limit, so that what is measured is not
	// its start: Node.js with 8 worker threads under 0.1 CPUs needs half a minute for it.
	warm bool
}

func (c cell) String() string {
	text := fmt.Sprintf("%s, %s, %v CPU", c.program.name, strings.TrimPrefix(c.path, "/"), c.cpus)
	if c.memory > 0 {
		text += fmt.Sprintf(", %d MiB", c.memory>>20)
	}
	return text
}

// figures are what the load engine measured. Times are in milliseconds.
type figures struct {
	Rate         float64 `json:"rate_rps"`
	Availability float64 `json:"availability"`
	Latency      struct {
		P50 float64 `json:"p50"`
		P99 float64 `json:"p99"`
	} `json:"latency_ms"`
	Host struct {
		Foreign *float64 `json:"foreign_cores"`
	} `json:"host"`
	survived bool
}

// service is a running cell.
type service struct {
	t       *testing.T
	cell    cell
	group   *groups.Group
	dir     string
	port    string
	url     string
	command *exec.Cmd
}

// serve starts the program of a cell with the changes applied.
func serve(t *testing.T, c cell, dir string, changes []doctor.Change) *service {
	t.Helper()
	port := free(t)
	s := &service{t: t, cell: c, dir: dir, port: port}
	s.url = "http://127.0.0.1:" + port + c.path
	cpus, memory := c.cpus, c.memory
	command, env := c.program.start(t, dir, port)
	env = slices.Clone(env) // it is the program's
	for _, change := range changes {
		if change.CPUs > 0 {
			cpus = change.CPUs
		}
		if change.Memory > 0 {
			memory = change.Memory
		}
		if change.Command != nil {
			changed := s.here(change.Command)
			starter := command[:max(0, slices.Index(command, changed[0]))] // such as setpriv
			command = append(slices.Clone(starter), changed...)
		}
		for name, value := range change.Env {
			env = append(slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") }), name+"="+value)
		}
		if change.Setting != "" && change.Command == nil {
			if at := slices.Index(command, "--"+change.Setting) + 1; at > 0 && at < len(command) {
				command[at] = change.NewValue()
				continue
			}
			if c.program.set == nil {
				t.Fatalf("the change %+v cannot be applied", change)
			}
			c.program.set(t, dir, change.Setting, change.NewValue())
		}
	}
	s.group = groups.New(t)
	s.group.LimitCPU(t, cpus)
	if memory > 0 {
		s.group.LimitMemory(t, memory)
	}
	for _, change := range changes {
		if change.Burst > 0 {
			s.burst(change.Burst)
		}
	}
	s.command = s.group.Command(command[0], command[1:]...)
	s.command.Dir = dir
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if name != "GOMAXPROCS" && name != "GODEBUG" && name != "WEB_CONCURRENCY" {
			s.command.Env = append(s.command.Env, variable)
		}
	}
	s.command.Env = append(s.command.Env, env...)
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	s.command.Stdout, s.command.Stderr = output, output
	testkit.StartTied(t, s.command)
	if !c.program.quiet {
		s.listens(output.Name())
	}
	if c.warm {
		s.group.LimitCPU(t, float64(runtime.NumCPU())) // the program has read its limit
		testkit.Until(t, c.String()+" works", func() bool { return s.load(0, 2).Rate > 0 })
		s.group.LimitCPU(t, cpus)
	}
	return s
}

// listens waits until the service listens, or starts what is in front of it.
func (s *service) listens(output string) {
	s.t.Helper()
	if s.cell.program.front != nil {
		s.url = s.cell.program.front(s.t, s.port) + s.cell.path
		return
	}
	testkit.Until(s.t, s.cell.String()+" listens", func() bool {
		if st, err := proc.ReadStat(s.command.Process.Pid); err == nil && st.Ended() {
			text, _ := os.ReadFile(output)
			s.t.Fatalf("%s ended before it listened: %s", s.cell, text)
		}
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+s.port, time.Second)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// The places of a run in a command that a finding reports.
const itsPort, itsFolder = "${port}", "${folder}"

// elsewhere is a command of this run for others.
func (s *service) elsewhere(command []string) []string {
	return replaced(command, strings.NewReplacer(s.dir, itsFolder, s.port, itsPort))
}

// here is a command of another run for this one.
func (s *service) here(command []string) []string {
	return replaced(command, strings.NewReplacer(itsFolder, s.dir, itsPort, s.port))
}

func replaced(words []string, by *strings.Replacer) (all []string) {
	for _, word := range words {
		all = append(all, by.Replace(word))
	}
	return all
}

func (s *service) burst(d time.Duration) {
	name := "cpu.max.burst"
	if s.group.Version == 1 {
		name = "cpu.cfs_burst_us"
	}
	quota := time.Duration(s.cell.cpus * float64(100*time.Millisecond))
	text := strconv.FormatInt(min(d, quota).Microseconds(), 10)
	if err := os.WriteFile(filepath.Join(s.group.CPU, name), []byte(text), 0); err != nil {
		s.t.Fatal(err)
	}
}

// stop ends the service and removes its group.
func (s *service) stop() { s.group.Remove(s.t) }

// killed is how many processes the kernel killed for memory, and whether the first
// process still runs.
func (s *service) survived() bool {
	pids := s.group.PIDs(s.t)
	return slices.Contains(pids, s.command.Process.Pid)
}

// users are the users of the closed loop: more where requests wait.
func (c cell) users() string {
	if c.path == wait {
		return "32"
	}
	return "16"
}

// load sends requests: at a rate, or for 0 in a closed loop.
func (s *service) load(rate float64, seconds int) figures {
	s.t.Helper()
	if s.cell.program.rate != nil {
		f := figures{Rate: s.cell.program.rate(s, seconds), Availability: 100, survived: s.survived()}
		return f
	}
	args := []string{"load", "--json", "-d", fmt.Sprintf("%ds", seconds), "--warmup", "1s", "--timeout", "10s", "--yes",
		"--pid", strconv.Itoa(s.command.Process.Pid)}
	if rate > 0 {
		args = append(args, "-R", strconv.FormatFloat(rate, 'f', 1, 64))
	} else {
		args = append(args, "-c", s.cell.users())
	}
	for _, header := range s.cell.program.headers {
		args = append(args, "-H", header)
	}
	cmd := exec.Command(filepath.Join(folder, "millicore"), append(args, s.url)...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err := testkit.RunTied(cmd)
	var f figures
	if json.Unmarshal(out.Bytes(), &f) != nil {
		s.t.Fatalf("%s: %v: %s", s.cell, err, log.String())
	}
	f.survived = s.survived()
	return f
}

// examined runs the load and doctor's watch at the same time, and returns the findings
// about the service of the level warning or above.
func (s *service) examined(rate float64, seconds int) (figures, []doctor.Finding) {
	s.t.Helper()
	found := make(chan watched, 1)
	inside := s.group.PIDs(s.t)
	go func() {
		<-time.After(1500 * time.Millisecond) // the load warms up for 1 s
		found <- watch(seconds - 1)
	}()
	f := s.load(rate, seconds)
	return f, s.findings(<-found, inside)
}

// idle is what doctor finds about the service while nothing is sent.
func (s *service) idle(seconds int) []doctor.Finding {
	s.t.Helper()
	return s.findings(watch(seconds), s.group.PIDs(s.t))
}

type watched struct {
	host inspect.Host
	err  error
}

func watch(seconds int) watched {
	host, err := inspect.New("").Scan(context.Background(), inspect.Only{}, time.Duration(seconds)*time.Second)
	return watched{host, err}
}

// findings are those about the service: its processes, and those that it had.
func (s *service) findings(w watched, had []int) []doctor.Finding {
	s.t.Helper()
	if w.err != nil {
		s.t.Fatal(w.err)
	}
	inside := append(had, s.group.PIDs(s.t)...)
	all := slices.DeleteFunc(doctor.Examine(w.host), func(f doctor.Finding) bool { return !slices.Contains(inside, f.PID) })
	for _, f := range all {
		for i := range f.Changes {
			if command := f.Changes[i].Command; command != nil {
				f.Changes[i].Command = s.elsewhere(command)
			}
		}
	}
	return all
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
