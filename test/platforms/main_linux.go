// Command platforms runs one experiment with local processes, on Docker and on a
// cluster, one after the other, and prints whether the results agree for each cell: the
// share of throttled periods within ten percentage points, and p99 within the
// intervals. It starts its own Docker daemon; the cluster is that of
// MILLICORE_KUBECONFIG, with the image millicore/millicore:test. It is not a test: it
// measures, and needs a quiet machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/test/dockerd"
)

// experiment has one service under a limit of one CPU, with and without throttling. Its
// requests are expensive, so that the service and the agents fit on two CPUs.
const experiment = `
name: platforms
services: {go: {workload: go, env: {GOMAXPROCS: "${procs}"}, ready: /healthz}}
limits: {cpu: "1", memory: 256Mi}
vary: {procs: [1, 2]}
load: {request: {path: /isPrime/666666}, users: 50, timeout: 5s}
measure: {warmup: 1s, duration: 4s, repeats: 6}
docker: {network: host}
kubernetes:
  image: millicore/millicore:test
  requests: {cpu: 20m}
  agents: {cpu: 20m}
  conductor: {cpu: 20m}
  node_agent: true
`

// platform is a platform to compare.
type platform struct {
	name string
	args []string
	env  []string
}

func main() {
	program := flag.String("millicore", "bin/millicore", "the program")
	rounds := flag.Int("rounds", 2, "how often each platform takes its turn")
	namespace := flag.String("namespace", "millicore-platforms", "of the cluster; it takes node agents")
	out := flag.String("out", "bin/platforms", "folder for the records; it is emptied")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := compare(ctx, *program, *namespace, *out, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "platforms:", err)
		os.Exit(1)
	}
}

func compare(ctx context.Context, program, namespace, out string, rounds int) (err error) {
	kubeconfig := os.Getenv("MILLICORE_KUBECONFIG")
	if kubeconfig == "" {
		return fmt.Errorf("MILLICORE_KUBECONFIG is not set; test/cluster/with.sh starts a cluster and sets it")
	}
	daemon, err := dockerd.Start()
	if err != nil {
		return err
	}
	defer func() {
		if stopped := daemon.Stop(); err == nil {
			err = stopped
		}
	}()
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	file := filepath.Join(out, "platforms.yaml")
	if err := os.WriteFile(file, []byte(experiment), 0o644); err != nil {
		return err
	}
	all := []platform{
		{"local", nil, nil},
		{"docker", nil, []string{"DOCKER_HOST=" + daemon.Host()}},
		{"kubernetes", []string{"--kubeconfig", kubeconfig, "--namespace", namespace}, nil},
	}
	fmt.Println("| round | cell | platform | requests/s | p50 ms | p99 ms | 95% interval | throttled periods | slow tail is throttling | flags |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	agree := true
	for round := range rounds {
		cells := map[string][]summary.Cell{}
		for _, p := range all {
			dir := filepath.Join(out, fmt.Sprintf("%s-%d", p.name, round+1))
			run := exec.CommandContext(ctx, program, append([]string{"run", file, "--on", p.name, "--out", dir}, p.args...)...)
			run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
			run.Env, run.Stderr = append(os.Environ(), p.env...), os.Stderr
			if err := run.Run(); err != nil {
				return fmt.Errorf("%s: %w", strings.Join(run.Args, " "), err)
			}
			data, err := results.Open(record.Own, dir)
			if err != nil {
				return err
			}
			cells[p.name] = data.Summary.Cells
		}
		for i := range cells["local"] {
			for _, p := range all {
				c := &cells[p.name][i]
				fmt.Println(row(round+1, p.name, c))
				if p.name != "local" && !same(&cells["local"][i], c) {
					agree = false
					fmt.Fprintf(os.Stderr, "%s and local differ in %s\n", p.name, c.Label)
				}
			}
		}
	}
	if !agree {
		fmt.Println("\nNot all of them give the same verdict.")
		return nil
	}
	fmt.Println("\nAll of them give the same verdict.")
	return nil
}

func row(round int, platform string, c *summary.Cell) string {
	tail, interval := "–", "–"
	if c.Causes != nil {
		tail = display.Shares(c.Causes.Throttling, c.Causes.ThrottlingHigh)
	}
	if i, ok := c.Intervals["latency_ms.p99"]; ok {
		interval = fmt.Sprintf("%.0f–%.0f", i[0], i[1])
	}
	return fmt.Sprintf("| %d | %s | %s | %.0f | %.0f | %.0f | %s | %.0f%% | %s | %s |", round, c.Label, platform, *c.RateRPS, c.LatencyMS.P50, c.LatencyMS.P99,
		interval, 100*share(c), tail, c.Flags.Join(" "))
}

// share is the share of throttled periods.
func share(c *summary.Cell) float64 {
	if c.CPU.Periods == nil || c.CPU.ThrottledPeriods == nil || *c.CPU.Periods == 0 {
		return math.NaN()
	}
	return float64(*c.CPU.ThrottledPeriods) / float64(*c.CPU.Periods)
}

// same reports whether two platforms agree on a cell.
func same(a, b *summary.Cell) bool {
	x, y := a.Intervals["latency_ms.p99"], b.Intervals["latency_ms.p99"]
	return math.Abs(share(a)-share(b)) <= 0.1 && x[0] <= y[1] && y[0] <= x[1]
}
