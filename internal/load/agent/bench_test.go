package agent

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/signals"
)

// sum adds all that the frames of a trial saw.
func sum(frames []*signals.Frame) *signals.Client {
	all := &signals.Client{
		Latency: signals.NewHistogram(), Service: signals.NewHistogram(), SendLag: signals.NewHistogram(),
		Status: map[string]int64{},
	}
	for _, f := range frames {
		c := f.Client
		all.Intended += c.Intended
		all.Sent += c.Sent
		all.Good += c.Good
		all.Timeouts += c.Timeouts
		all.Refused += c.Refused
		all.Cut += c.Cut
		all.Malformed += c.Malformed
		all.Carried += c.Carried
		all.Dropped += c.Dropped
		all.Bytes += c.Bytes
		all.Connects += c.Connects
		all.CPU += c.CPU
		for code, n := range c.Status {
			all.Status[code] += n
		}
		all.Latency.Merge(c.Latency)
		all.Service.Merge(c.Service)
		all.SendLag.Merge(c.SendLag)
	}
	return all
}

// trial runs a trial to its end and returns its frames.
func trial(tb testing.TB, c *Client, p protocol.Prepare) []*signals.Frame {
	tb.Helper()
	if _, err := c.Prepare(tb.Context(), p); err != nil {
		tb.Fatal(err)
	}
	if err := c.Start(time.Now().Add(20 * time.Millisecond)); err != nil {
		tb.Fatal(err)
	}
	var frames []*signals.Frame
	if _, err := c.Follow(tb.Context(), func(f *signals.Frame) error {
		frames = append(frames, f)
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	return frames
}

func seconds(s float64) protocol.Duration { return protocol.Duration(s * float64(time.Second)) }

// measured keeps what counts of a trial's frames.
func measured(frames []*signals.Frame) (kept []*signals.Frame, seconds float64) {
	for _, f := range frames {
		if f.Phase == signals.Measure {
			kept = append(kept, f)
			seconds += f.Seconds()
		}
	}
	return kept, seconds
}

// BenchmarkClosedLoop gives an agent one CPU and nginx the other, with 64 users,
// and reports what a request costs the agent. Where wrk is installed it runs in
// the same place right after, and the ratio is reported: figures drift with the
// machine, ratios less.
func BenchmarkClosedLoop(b *testing.B) {
	addr := startNginx(b, 1)
	c := startProcess(b, 0)
	p := protocol.Prepare{
		Trial: 1, Agents: 1, Targets: []string{addr},
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
				Trial: 1, Agents: 1, Targets: []string{addr},
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
