package lab

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/load/protocol"
)

// frameOf is the frame of one of many agents: a number of answers with log-normal
// latencies about 5 ms, and a sample of the slow ones.
func frameOf(index, seq, answers int) *signals.Frame {
	random := rand.New(rand.NewPCG(uint64(index), uint64(seq)))
	c := &signals.Client{Intended: int64(answers), Sent: int64(answers), Good: int64(answers), Bytes: int64(answers) * 300,
		Status: map[string]int64{"200": int64(answers)}, Rate: float64(answers),
		Latency: signals.NewHistogram(), Service: signals.NewHistogram(), SendLag: signals.NewHistogram()}
	start := time.Unix(1_700_000_000+int64(seq), 0)
	for i := range answers {
		took := time.Duration(5e6 * math.Exp(0.8*random.NormFloat64()))
		c.Latency.Record(took)
		c.Service.Record(took)
		c.SendLag.Record(time.Duration(20_000 * math.Exp(random.NormFloat64())))
		if i%20 == 0 {
			at := start.UnixNano() + int64(i)
			c.Slow = append(c.Slow, signals.Slow{Intended: at, Sent: at, Done: at + int64(took), For: 1})
			c.SlowSeen++
		}
	}
	return &signals.Frame{Trial: 1, Seq: seq, Phase: signals.Measure, Start: start.UnixNano(), End: start.Add(time.Second).UnixNano(), Agent: &index, Client: c}
}

// script is the stream of an agent that sends a given text.
type script struct{ io.Reader }

func (script) Write(b []byte) (int, error) { return len(b), nil }
func (script) Close() error                { return nil }

// BenchmarkAThousandAgents is a conductor's work for one interval of a thousand agents
// with 100 answers each: decode their frames and append them to the record.
func BenchmarkAThousandAgents(b *testing.B) {
	const agents = 1000
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as in conductor.Conduct
	e, err := file.Parse("many.yaml", []byte("name: many\nservices: {one: {image: one}}\nload: {request: {path: /}, rate: 100000, agents: 1000}\n"), nil)
	if err != nil {
		b.Fatal(err)
	}
	l := &Lab{Experiment: e, NoHost: true}
	w, err := record.Create(b.TempDir()+"/record", record.Run{Version: record.Version, Experiment: e, Started: time.Now()})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	var sent int64
	lines := make([][]byte, agents)
	for i := range lines {
		frame, err := json.Marshal(protocol.Event{Frame: frameOf(i, 0, 100)})
		if err != nil {
			b.Fatal(err)
		}
		lines[i] = append(append(frame, '\n'), []byte(`{"done":{"peak_rss_bytes":1}}`+"\n")...)
		sent += int64(len(frame))
	}
	queue := newQueue(nil, 1)
	before := ownCPU()
	for b.Loop() {
		r := &recorder{writer: w, service: "one", progress: newReporter(l, attempt{}, 1, queue, newPace(e))}
		for _, text := range lines {
			client := agent.NewClient(script{bytes.NewReader(text)})
			if _, err := client.Follow(b.Context(), func(f *signals.Frame) error { return r.take(event{frame: f}) }); err != nil {
				b.Fatal(err)
			}
			client.Close()
		}
	}
	b.ReportMetric((ownCPU()-before)/float64(b.N), "cpu-s/op") // without the time of the disk
	b.ReportMetric(float64(sent)/agents, "bytes/frame")
}
