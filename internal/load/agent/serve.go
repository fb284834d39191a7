// Package agent implements both ends of the conversation between the lab and an agent:
// Serve runs in the agent and executes the lab's commands, Client is the lab's end.
// It does not define the messages (package protocol) and does not make the traffic
// (package engine).
package agent

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/engine"
	"github.com/millicore/millicore/internal/load/protocol"
)

// Serve executes the commands that it reads from in. When in ends, it ends all traffic
// and returns. An error is sent to the lab as the last line, and returned.
func Serve(in io.Reader, out io.Writer) error {
	s := &server{
		out:      newWriter(out),
		commands: make(chan protocol.Command),
		ended:    make(chan error, 1),
		left:     make(chan struct{}),
	}
	defer s.out.close()
	defer close(s.left)
	go s.read(in)
	err := CheckPolicy()
	if err == nil {
		err = s.serve()
	}
	if err != nil {
		s.out.send(protocol.Event{Error: err.Error()})
	}
	return err
}

type server struct {
	out      *writer
	commands chan protocol.Command
	ended    chan error    // receives why the commands ended; nil: the input ended
	left     chan struct{} // closed when commands are no longer received
}

// read decodes the input until it ends, or until the first invalid line.
func (s *server) read(in io.Reader) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		command, err := decodeCommand(lines.Bytes())
		if err != nil {
			s.ended <- err
			return
		}
		select {
		case s.commands <- command:
		case <-s.left:
			return
		}
	}
	if err := lines.Err(); err != nil {
		s.ended <- fmt.Errorf("read commands: %w", err)
		return
	}
	s.ended <- nil
}

// serve runs trials one after another.
func (s *server) serve() error {
	for {
		select {
		case err := <-s.ended:
			return err
		case c := <-s.commands:
			switch {
			case c.Prepare != nil:
				if done, err := s.trial(c.Prepare); done || err != nil {
					return err
				}
			case c.Stop != nil: // the trial has already ended
			case c.Change != nil, c.Move != nil: // likewise
			default:
				return errors.New("start: no trial is prepared")
			}
		}
	}
}

// trial runs one trial. ended reports whether the input has ended.
func (s *server) trial(p *protocol.Prepare) (ended bool, err error) {
	plan, err := newPlan(p)
	if err != nil {
		return false, fmt.Errorf("prepare trial %d: %w", p.Trial, err)
	}
	e, err := engine.Open(plan)
	if err != nil {
		return false, fmt.Errorf("prepare trial %d: %w", p.Trial, err)
	}
	finished := make(chan error, 1)
	running := false
	defer func() {
		e.Close()
		if running {
			<-finished
		}
	}()
	s.out.send(protocol.Event{Ready: &protocol.Ready{
		PID:         os.Getpid(),
		Version:     runtime.Version(),
		Threads:     e.Threads(),
		Connections: e.Connections(),
		Build:       build,
	}})

	for {
		select {
		case err := <-s.ended:
			return true, err
		case err := <-finished:
			running = false
			if err != nil {
				return false, fmt.Errorf("trial %d: %w", p.Trial, err)
			}
			s.out.send(protocol.Event{Done: &protocol.Done{PeakRSS: peakRSS()}})
			return false, nil
		case <-s.out.failed:
			return true, s.out.err
		case c := <-s.commands:
			switch {
			case c.Start != nil && !running:
				at := time.Unix(0, c.Start.At)
				if err := e.Start(at); err != nil {
					return false, fmt.Errorf("trial %d: %w", p.Trial, err)
				}
				running = true
				go func() { finished <- s.follow(e, p, at) }()
			case c.Stop != nil && !running:
				finished <- nil
			case c.Stop != nil:
				e.Stop()
			case c.Move != nil:
				targets, err := newTargets(c.Move.Targets, p, plan.Targets)
				if err == nil {
					err = e.Move(targets)
				}
				if err != nil {
					return false, fmt.Errorf("trial %d: %w", p.Trial, err)
				}
				p.Targets, plan.Targets = c.Move.Targets, targets
			case c.Change != nil && running:
				load, err := newLoad(c.Change.Load, len(p.Requests))
				if err == nil {
					err = e.Change(load, c.Change.Drop)
				}
				if err != nil {
					return false, fmt.Errorf("trial %d: %w", p.Trial, err)
				}
			default:
				return false, fmt.Errorf("trial %d: unexpected command %s", p.Trial, name(c))
			}
		}
	}
}

// follow sends a frame for each interval of the trial that started at the given time.
func (s *server) follow(e *engine.Engine, p *protocol.Prepare, at time.Time) error {
	own := startUsage()
	defer own.close()
	return e.Follow(at, func(i *engine.Interval) error {
		own.since(i.Client)
		return s.out.send(protocol.Event{Frame: &signals.Frame{
			Trial:  p.Trial,
			Cell:   p.Cell,
			Seq:    i.Seq,
			Start:  i.Start.UnixNano(),
			End:    i.End.UnixNano(),
			Phase:  i.Phase,
			Agent:  &p.Agent,
			Client: i.Client,
		}})
	})
}
