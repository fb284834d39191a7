package agent

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/protocol"
)

// BenchmarkClosedLoop gives an agent one CPU and nginx the other, with 64 users,
// and reports what a request costs the agent. Where wrk is installed it runs in
// the same place right after, and the ratio is reported: figures drift with the
// machine, ratios less.
func BenchmarkClosedLoop(b *testing.B) {
	addr := startNginx(b, 1)
	c := startProcess(b, 0)
	p := protocol.Prepare{
		Trial: 1, Agents: 1, Targets: []string{addr}, Requests: []protocol.Request{{}},
		Load:    protocol.Load{Kind: protocol.Closed, Stages: []protocol.Stage{{From: 64, To: 64}}, Requests: int64(b.N)},
		Timeout: seconds(2), Interval: seconds(1),
	}
	b.ResetTimer()
	frames := trial(b, c, p)
	b.StopTimer()
	kept, took := measured(frames)
	all := sum(kept)
	if all.Good != int64(b.N) {
		b.Fatalf("%d of %d answers were good: %+v", all.Good, b.N, all)
	}
	own := all.CPU / float64(b.N) * 1e6
	b.ReportMetric(float64(b.N)/took, "requests/s")
	b.ReportMetric(float64(b.N)/all.CPU, "requests/s/core")
	b.ReportMetric(own, "cpu-us/request")
	if cpu, rate, ok := runWrk(b, 0, addr, 64, took); ok {
		b.ReportMetric(rate, "wrk-requests/s")
		b.ReportMetric(own/cpu, "cpu/wrk")
	}
}

// BenchmarkSendLag reports how late an open loop sends, at several rates.
func BenchmarkSendLag(b *testing.B) {
	for _, rate := range []float64{1000, 2000, 5000, 10000, 20000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			addr := startNginx(b, 1)
			c := startProcess(b, 0)
			length := float64(b.N) / rate
			b.ResetTimer()
			frames := trial(b, c, protocol.Prepare{
				Trial: 1, Agents: 1, Targets: []string{addr}, Requests: []protocol.Request{{}},
				Load:    protocol.Load{Kind: protocol.Open, Stages: []protocol.Stage{{Duration: seconds(length), From: rate, To: rate}}},
				Timeout: seconds(2), Interval: seconds(1), Seed: 1,
			})
			b.StopTimer()
			kept, _ := measured(frames)
			all := sum(kept)
			micros := func(h *signals.Histogram, q float64) float64 { return float64(h.Quantile(q).Microseconds()) }
			b.ReportMetric(micros(all.SendLag, 0.5), "lag-p50-us")
			b.ReportMetric(micros(all.SendLag, 0.99), "lag-p99-us")
			b.ReportMetric(micros(all.Latency, 0.5), "latency-p50-us")
			b.ReportMetric(micros(all.Latency, 0.99), "latency-p99-us")
			b.ReportMetric(all.CPU/float64(all.Good)*1e6, "cpu-us/request")
			wait := 0.0
			for _, f := range kept {
				if f.Client.RunWait != nil {
					wait += *f.Client.RunWait
				}
			}
			b.ReportMetric(wait/length*1000, "run-wait-ms/s")
		})
	}
}

// BenchmarkSessions gives an agent one CPU and nginx the other, with 64 users, and reports what a
// request of a session costs the agent: a login whose token and cookie three further requests
// have. The same requests without a session are sent in turn with it, and the ratio is reported.
func BenchmarkSessions(b *testing.B) {
	addr := startNginx(b, 1)
	c := startProcess(b, 0)
	send := func(trialed int, in bool) float64 {
		p := protocol.Prepare{
			Trial: trialed, Agents: 1, Targets: []string{addr},
			Load:    protocol.Load{Kind: protocol.Closed, Stages: []protocol.Stage{{From: 64, To: 64}}, Requests: int64(b.N)},
			Timeout: seconds(2), Interval: seconds(1),
		}
		names := []string{"session", "session_id", "token"}
		for i, path := range []string{"/login", "/cart", "/stock", "/order"} {
			r := protocol.Request{Path: path, Kind: path}
			if i > 0 {
				r.Headers = map[string]string{"Authorization": "Bearer 0123456789abcdef0123456789abcdef"}
			}
			if in {
				r.Step = &protocol.Step{Names: names}
				if i == 0 {
					r.Step = &protocol.Step{Names: names[:2], Capture: map[string]string{"token": "json:$.auth.token"}}
				} else {
					r.Headers = map[string]string{"Authorization": "Bearer {{token}}"}
				}
			}
			p.Requests = append(p.Requests, r)
		}
		kept, _ := measured(trial(b, c, p))
		all := sum(kept)
		if all.Good != int64(b.N) {
			b.Fatalf("%d of %d answers were good: %+v", all.Good, b.N, all)
		}
		return all.CPU / float64(b.N) * 1e6
	}
	plain, session := 0.0, 0.0
	const turns = 4
	for i := range turns {
		plain += send(2*i+1, false) / turns
		session += send(2*i+2, true) / turns
	}
	b.ReportMetric(plain, "plain-cpu-us/request")
	b.ReportMetric(session, "session-cpu-us/request")
	b.ReportMetric(session/plain, "session/plain")
}

var wrkRate = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)

// runWrk runs wrk for as long as a trial took, at least half a second, and
// returns its CPU microseconds per request and its rate.
func runWrk(b *testing.B, cpu int, addr string, users int, took float64) (micros, rate float64, ok bool) {
	b.Helper()
	if _, err := exec.LookPath("wrk"); err != nil || took < 0.5 {
		return 0, 0, false
	}
	length := max(1, int(took+0.5))
	cmd := pinned(cpu, "wrk", "-t1", fmt.Sprintf("-c%d", users), fmt.Sprintf("-d%ds", length), "http://"+addr+"/")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("wrk: %v", err)
	}
	found := wrkRate.FindSubmatch(out)
	if found == nil {
		b.Fatalf("wrk said: %s", out)
	}
	rate, _ = strconv.ParseFloat(string(found[1]), 64)
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return used.Seconds() * 1e6 / (rate * float64(length)), rate, true
}
