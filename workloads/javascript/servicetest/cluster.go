package servicetest

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// members is how many processes the checks of a cluster have.
const members = 2

// CheckCluster checks a service that can be several processes on one port.
func (r Runtime) CheckCluster(t *testing.T) {
	t.Run("its processes share the port", r.sharesPort)
	t.Run("a signal awaits the request in flight", r.clusterAwaits)
	t.Run("one that is killed ends them all", r.endsTogether)
	t.Run("a port in use", r.clusterRefusesPort)
}

func (r Runtime) startCluster(t *testing.T) *Process {
	return r.Start(t, fmt.Sprintf("CLUSTER=%d", members))
}

// sharesPort makes a counter in whichever process answers: as each has its own,
// a new connection finds the key in one process and not in the other. /metrics shows
// that all have answered, and adds them up.
func (r Runtime) sharesPort(t *testing.T) {
	p := r.startCluster(t)
	if n := len(children(t, p.Process.Pid)); n != members {
		t.Errorf("%d processes below the leader, want %d", n, members)
	}
	made, missed := false, false
	const requests = 20
	for range requests {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // the leader gives connections in turn
		resp, err := client.Post(p.URL+"/counter/a?n=1", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		var value int
		if _, err := fmt.Fscanf(resp.Body, `{"key":"a","value":%d}`, &value); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		made, missed = made || value > 1, missed || value == 1
	}
	if _, body := get(t, p.URL+"/metrics"); !strings.Contains(body, fmt.Sprintf(
		"\nhttp_request_duration_seconds_count{method=\"POST\",route=\"/counter/{key}\",status=\"200\"} %d\n", requests)) {
		t.Errorf("/metrics does not add up %d requests:\n%s", requests, body)
	}
	if !made || !missed {
		t.Error("one process answered all requests")
	}
}

func (r Runtime) clusterAwaits(t *testing.T) {
	p := r.startCluster(t)
	var open []openRequest
	for range members { // one for each, as connections are given in turn
		open = append(open, p.openRequest(t))
	}
	// As Ctrl-C and a platform's group do, all processes get the signal.
	for _, pid := range append(children(t, p.Process.Pid), p.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	awaitRefusal(t, p.address())
	for _, o := range open {
		if status := o.finish(t); status != http.StatusCreated {
			t.Errorf("status %d, want 201", status)
		}
	}
	p.wantEnd(t)
}

func (r Runtime) endsTogether(t *testing.T) {
	p := r.startCluster(t)
	if err := syscall.Kill(children(t, p.Process.Pid)[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	if code := p.ProcessState.ExitCode(); code != 1 || !strings.Contains(p.Stderr.String(), "SIGKILL") {
		t.Errorf("exit code %d, standard error %q; want 1 and which signal it was", code, p.Stderr)
	}
	awaitRefusal(t, p.address())
}

func (r Runtime) clusterRefusesPort(t *testing.T) {
	p := r.Start(t)
	port := p.URL[strings.LastIndex(p.URL, ":")+1:]
	end := r.Run(t, []string{"--port", port}, []string{fmt.Sprintf("CLUSTER=%d", members)})
	if end.Code != 1 || end.Stdout != "" || !strings.Contains(end.Stderr, "--port") {
		t.Errorf("%+v; want exit code 1 and the way out on standard error", end)
	}
}

// children are the processes below a process, by Linux's /proc.
func children(t *testing.T, pid int) []int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Skip("needs /proc/PID/task/PID/children to know the processes of a cluster: ", err)
	}
	var pids []int
	for _, word := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, child)
	}
	return pids
}
