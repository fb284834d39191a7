package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform/database"
	"github.com/millicore/millicore/test/testkit"
)

// Runs of the sample service with databases that Millicore starts.

// needDatabase skips a test if a database cannot be started; in CI it fails.
func needDatabase(t *testing.T, builtin string) {
	t.Helper()
	needCgroups(t)
	built, err := filepath.Abs("../../bin") // where make mongodb puts it
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+built)
	if err := database.Check(builtin); err != nil {
		testkit.Missing(t, err)
	}
}

// inserting is an experiment that stores devices in a database.
func inserting(builtin, measure string) string {
	return strings.NewReplacer("BUILTIN", builtin, "MEASURE", measure).Replace(`
name: inserts
services:
  go:
    workload: go
    env: {STORE: BUILTIN, DATABASE_URL: "${BUILTIN.url}"}
    ready: /healthz
    dependencies: [{name: BUILTIN, limits: {cpu: "1"}}]
limits: {cpu: "1"}
load:
  request: {method: POST, path: /devices, headers: {Content-Type: application/json}, body: '{"mac":"00-00-5E-00-53-01","firmware":"2.1.6"}'}
  users: 4
  timeout: 10s
measure: MEASURE
`)
}

// databaseCommand is a run whose record the users of the databases can access, so that
// their data is in it.
func databaseCommand(t *testing.T, builtin, measure string) (dir string, c *exec.Cmd) {
	t.Helper()
	dir, c = command(t, inserting(builtin, measure))
	for _, d := range []string{filepath.Dir(dir), filepath.Dir(filepath.Dir(dir))} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, c
}

// unitGroup waits for the control group of a trial's unit.
func unitGroup(t *testing.T, c *exec.Cmd, unit string) string {
	t.Helper()
	var found []string
	testkit.Until(t, unit+" has a control group", func() bool {
		for _, run := range groupsOf(c.Process.Pid) {
			if found, _ = filepath.Glob(filepath.Join(run, unit+"-0-*", "cgroup.procs")); len(found) > 0 {
				return true
			}
		}
		return false
	})
	return filepath.Dir(found[0])
}

// members are the processes of a group whose command line has a program and an argument;
// "": any.
func members(t *testing.T, group, program, argument string) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		line, _ := os.ReadFile(filepath.Join("/proc", field, "cmdline"))
		words := strings.Split(string(line), "\x00")
		if filepath.Base(words[0]) == program && (argument == "" || slices.Contains(words, argument)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// variable is the value of a variable in a process's environment.
func variable(t *testing.T, pid int, name string) string {
	t.Helper()
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := strings.CutPrefix(string(line), name+"="); ok {
			return value
		}
	}
	t.Fatalf("process %d has no variable %s", pid, name)
	return ""
}

// waitForTrial waits until the record has frames of a trial's measured part. It returns
// false if the run ended before.
func waitForTrial(t *testing.T, dir string, trial int, ended <-chan struct{}) bool {
	t.Helper()
	found := false
	testkit.Until(t, fmt.Sprintf("trial %d is measured, or the run ended", trial), func() bool {
		select {
		case <-ended:
			return true
		default:
		}
		text, _ := os.ReadFile(filepath.Join(dir, record.FramesFile))
		for line := range bytes.Lines(text) {
			var f signals.Frame
			if json.Unmarshal(line, &f) == nil && f.Trial == trial && f.Phase == signals.Measure && f.Client != nil {
				found = true
			}
		}
		return found
	})
	return found
}

// dataOf are the folders of the databases of a run. They are beside its record, which
// only its owner can enter.
func dataOf(t *testing.T, dir string) []string {
	t.Helper()
	inside, err := filepath.Glob(filepath.Join(dir, "millicore-data-*"))
	beside, err2 := filepath.Glob(filepath.Join(filepath.Dir(dir), "millicore-data-*"))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if len(inside) > 0 {
		t.Errorf("data in the record: %v", inside)
	}
	return beside
}

// noData checks that no folders and processes of databases remain.
func noData(t *testing.T, dir string) {
	t.Helper()
	if left := dataOf(t, dir); len(left) > 0 {
		t.Errorf("data left behind: %v", left)
	}
	links, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if line, err := os.ReadFile(link); err == nil && bytes.Contains(line, []byte(filepath.Dir(dir))) {
			t.Errorf("process left behind: %q", line)
		}
	}
}

// stored counts the devices in a database.
func stored(t *testing.T, url string) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var n int64
	if strings.HasPrefix(url, "postgres:") {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		if err := conn.QueryRow(ctx, "select count(*) from devices").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	client, err := mongo.Connect(options.Client().ApplyURI(url))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(ctx)
	if n, err = client.Database("millicore").Collection("devices").CountDocuments(ctx, bson.D{}); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDatabasesOfMillicore(t *testing.T) {
	for _, builtin := range []string{"postgres", "mongodb"} {
		t.Run(builtin, func(t *testing.T) {
			needDatabase(t, builtin)
			dir, c := databaseCommand(t, builtin, "{warmup: 0s, duration: 3s, repeats: 1, interval: 200ms}")
			var out bytes.Buffer
			c.Stdout = &out
			start(t, c)
			waitForFrames(t, dir, 3)
			service := members(t, unitGroup(t, c, "trial001-go"), "millicore-go", "")
			if len(service) != 1 {
				t.Fatalf("processes of the service: %v", service)
			}
			if n := stored(t, variable(t, service[0], "DATABASE_URL")); n == 0 {
				t.Error("no device is in the database")
			}
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
			nothingLeft(t, c.Process.Pid)
			noData(t, dir)

			s := report(t, dir)
			cell := s.Cells[0]
			if *cell.Availability != 100 || len(cell.Dependencies) != 1 {
				t.Fatalf("availability %v, dependencies %+v", *cell.Availability, cell.Dependencies)
			}
			if d := cell.Dependencies[0]; d.Name != builtin || *d.Cores <= 0 || *d.PeakBytes <= 0 || *d.Restarts != 0 {
				t.Errorf("dependency %+v", d)
			}
			everyProcessHasFrames(t, dir, builtin)
			if recordedVersion(t, dir, builtin) == "" {
				t.Error("the record does not have the database's version")
			}
		})
	}
}

// everyProcessHasFrames checks that the frames of each process of the database have CPU
// and memory. The record has a log of each process.
func everyProcessHasFrames(t *testing.T, dir, builtin string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, record.LogsDir, "trial-001", "trial001-"+builtin+"*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("logs %v, %v", logs, err)
	}
	cpu := map[int]float64{}
	text, err := os.ReadFile(filepath.Join(dir, record.FramesFile))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var f signals.Frame
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		if f.Trial == 1 && f.Of == builtin && f.Server != nil {
			cpu[f.Index] += *f.Server.CPU
			if *f.Server.Memory <= 0 || *f.Server.CPULimit != 1 {
				t.Errorf("process %d: memory %v, limit %v CPUs", f.Index, *f.Server.Memory, *f.Server.CPULimit)
			}
		}
	}
	for i := range logs {
		if cpu[i] <= 0 {
			t.Errorf("CPU of process %d: %v s", i, cpu[i])
		}
	}
}

// recordedVersion is the version of a runtime or a database in the record.
func recordedVersion(t *testing.T, dir, builtin string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, record.RunFile))
	if err != nil {
		t.Fatal(err)
	}
	var run record.Run
	if err := json.Unmarshal(text, &run); err != nil {
		t.Fatal(err)
	}
	return run.Host.Runtimes[builtin]
}

func TestAKilledRunWithADatabaseIsCleanedUp(t *testing.T) {
	for _, builtin := range []string{"postgres", "mongodb"} {
		t.Run(builtin, func(t *testing.T) {
			needDatabase(t, builtin)
			dir, c := databaseCommand(t, builtin, "{warmup: 0s, duration: 10m, repeats: 1, interval: 200ms}")
			start(t, c)
			waitForFrames(t, dir, 3)
			testkit.Kill(c)
			if len(dataOf(t, dir)) == 0 {
				t.Error("no data is left: there is nothing to clean")
			}
			out, err := exec.Command(filepath.Join(bin, "millicore"), "clean").CombinedOutput()
			if err != nil {
				t.Errorf("clean: %v\n%s", err, out)
			}
			nothingLeft(t, c.Process.Pid)
			noData(t, dir)
			if s := report(t, dir); s.Cells[0].Requests == 0 {
				t.Errorf("%+v: want the measurement before the kill", s.Cells[0])
			}
		})
	}
}
