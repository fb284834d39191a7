package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/load/protocol"
)

func seconds(s float64) protocol.Duration { return protocol.Duration(s * float64(time.Second)) }

// The client returns errors of the other side.
func TestTheClientGetsErrors(t *testing.T) {
	for name, c := range map[string]struct{ says, want string }{
		"an error":           {`{"error":"no such host"}`, "no such host"},
		"no words":           {"", "without an error message"},
		"nonsense":           {"hello", "event: "},
		"nothing":            {"{}", "exactly one"},
		"a frame too early":  {`{"frame":{}}`, "did not answer prepare"},
		"a frame too broken": {`{"frame":{"client":{"latency":"AAAA"}}}`, "histogram"},
	} {
		t.Run(name, func(t *testing.T) {
			lab, agent := net.Pipe()
			go func() {
				bufio.NewReader(agent).ReadString('\n')
				io.WriteString(agent, c.says)
				agent.Close()
			}()
			client := NewClient(lab)
			defer client.Close()
			_, err := client.Prepare(t.Context(), protocol.Prepare{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q in it", err, c.want)
			}
		})
	}
}

// An agent that has ended with an error accepts no more commands: the lab gets that
// error.
func TestACommandToAnAgentThatHasEnded(t *testing.T) {
	lab, agent := net.Pipe()
	go func() {
		io.WriteString(agent, `{"error":"out of ports"}`+"\n")
		agent.Close()
	}()
	client := NewClient(lab)
	defer client.Close()
	<-client.ended
	if err := client.Stop(); err == nil || !strings.Contains(err.Error(), "out of ports") {
		t.Errorf("%v; want the agent's words", err)
	}
}

func TestTheLabStopsWaiting(t *testing.T) {
	lab, agent := net.Pipe()
	go io.Copy(io.Discard, agent)
	client := NewClient(lab)
	defer client.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user has had enough"))
	if _, err := client.Prepare(ctx, protocol.Prepare{}); err == nil || !strings.Contains(err.Error(), "had enough") {
		t.Errorf("%v; want the cause", err)
	}
}

func FuzzCommand(f *testing.F) {
	for _, c := range []protocol.Command{
		{Prepare: &protocol.Prepare{Agents: 1, Targets: []string{"127.0.0.1:1"}, Timeout: seconds(1), Interval: seconds(1),
			Load: protocol.Load{Kind: protocol.Open, Stages: []protocol.Stage{{Duration: seconds(1), From: 1, To: 2}}}}},
		{Start: &protocol.Start{At: 1}}, {Change: &protocol.Change{}}, {Stop: &protocol.Stop{}},
	} {
		line, _ := json.Marshal(c)
		f.Add(line)
	}
	f.Add([]byte(`{"prepare":{"load":{"stages":[{"duration":"1h","from":1e308,"to":-1}]}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c, err := decodeCommand(line)
		if err != nil {
			return
		}
		if name(c) == "" {
			t.Fatalf("%q is no command", line)
		}
		if c.Prepare != nil {
			c.Prepare.Targets = nil // no look-ups
			newPlan(c.Prepare)
		}
		if c.Change != nil {
			newLoad(c.Change.Load, 1)
		}
	})
}
