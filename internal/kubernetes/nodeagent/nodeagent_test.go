package nodeagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/signals"
)

func of[T any](v T) *T { return &v }

const ms = time.Millisecond

// ahead is by how much the node's clock is ahead in these tests.
const ahead = 90 * time.Second

// container is a container's group, as files: v2, in a machine of its own.
type container struct {
	t   *testing.T
	dir string
}

func newContainer(t *testing.T) (*Finder, container) {
	const dir = "/host/cgroup/kubepods/pod" + uid + "/" + id
	root := machine(t, onV2, dir)
	c := container{t, filepath.Join(root, dir)}
	c.put("cpu.max", "50000 100000\n")
	c.throttled(0, 0, 0)
	c.put("cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n")
	c.put("memory.current", "5000\n")
	c.put("memory.peak", "9000\n")
	c.put("memory.stat", "anon 100\nfile 200\ninactive_file 1000\n")
	c.put("memory.events", "oom 0\noom_kill 2\n")
	c.put("memory.max", "100000\n")
	return finderIn(root, "/host/cgroup"), c
}

func (c container) put(file, text string) { put(c.t, filepath.Join(c.dir, file), text) }

// throttled has the kernel count so many periods, so many of them throttled, and
// the time of that.
func (c container) throttled(periods, throttled int, blocked time.Duration) {
	c.put("cpu.stat", fmt.Sprintf("usage_usec 250000\nuser_usec 0\nsystem_usec 0\nnr_periods %d\nnr_throttled %d\nthrottled_usec %d\nnr_bursts 0\nburst_usec 0\n",
		periods, throttled, blocked.Microseconds()))
}

// served is a client of an agent that serves it.
type served struct {
	*Client
	agent  <-chan error
	cancel context.CancelFunc
}

// serve has an agent serve a client, over a pipe, until the test ends.
func serve(t *testing.T, f *Finder) served {
	ours, theirs := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	agent := make(chan error, 1)
	go func() { agent <- Serve(ctx, theirs, f) }()
	c := NewClient(ours, ahead)
	t.Cleanup(func() {
		c.Close()
		cancel()
	})
	return served{c, agent, cancel}
}

func TestCountersComeAtOnceAndOnceAnInterval(t *testing.T) {
	f, c := newContainer(t)
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, f)
		w := s.Watch("containerd://"+id, uid, 0, 0)
		synctest.Wait()
		got, err := w.Counters()
		want := signals.Counters{At: time.Now().Add(-ahead), CPU: of(0.25), Periods: of[int64](0), ThrottledPeriods: of[int64](0), Throttled: of(0.0),
			Bursts: of[int64](0), OOMKills: of[int64](2), CPUPressure: of(1.5), CPULimit: of(0.5), Memory: of[int64](4000), MemoryPeak: of[int64](9000), MemoryLimit: of[int64](100000)}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v\n%s", err, d)
		}
		if _, err := w.Counters(); !errors.Is(err, ErrNoNewer) {
			t.Errorf("what was given is given again: %v", err)
		}
		time.Sleep(Interval)
		synctest.Wait()
		if got, err := w.Counters(); err != nil || !got.At.Equal(time.Now().Add(-ahead)) {
			t.Errorf("an interval later: %v, %v", got.At, err)
		}
		s.Interval(200 * ms)
		synctest.Wait()
		c.put("memory.current", "6000\n")
		c.put("cpu.max", "max 100000\n")
		c.put("memory.max", "max\n")
		time.Sleep(200 * ms)
		synctest.Wait()
		got, err = w.Counters()
		if err != nil || *got.Memory != 5000 || got.CPULimit != nil || got.MemoryLimit != nil {
			t.Errorf("after 200 ms, without limits: %+v, %v", got, err)
		}
	})
}

func TestTheNodesTimesCome(t *testing.T) {
	f, _ := newContainer(t)
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, f)
		synctest.Wait()
		first, err := s.Host()
		if err != nil {
			t.Skip(err) // a system without /proc/stat
		}
		if first.CPUs < 1 || first.Idle < 0 || !first.At.Equal(time.Now().Add(-ahead)) {
			t.Errorf("%+v", first)
		}
		if _, err := s.Host(); !errors.Is(err, ErrNoNewer) {
			t.Errorf("what was given is given again: %v", err)
		}
		time.Sleep(Interval)
		synctest.Wait()
		if second, err := s.Host(); err != nil || second.At.Sub(first.At) != Interval {
			t.Errorf("an interval later: %+v, %v", second, err)
		}
	})
}

// With the node's times comes what its containers have used by then, so that what
// is left is others'.
func TestAReadingHasWhatEachContainerUsed(t *testing.T) {
	f, c := newContainer(t)
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, f)
		synctest.Wait()
		if first, err := s.Host(); err != nil || len(first.Used) != 0 {
			t.Fatalf("before anything is watched: %+v, %v", first, err)
		}
		w := s.Count("containerd://"+id, uid)
		s.Count(other, uid) // which is not there
		time.Sleep(500*ms + 1)
		c.put("cpu.stat", "usage_usec 750000\nuser_usec 0\nsystem_usec 0\nnr_periods 9\nnr_throttled 5\nthrottled_usec 400000\nnr_bursts 0\nburst_usec 0\n")
		time.Sleep(500 * ms)
		synctest.Wait()
		got, err := s.Host()
		if d := cmp.Diff(map[string]float64{id: 0.75}, got.Used); err != nil || d != "" {
			t.Errorf("%v\n%s", err, d)
		}
		if counters, err := w.Counters(); err != nil || *counters.CPU != 0.75 {
			t.Errorf("%+v, %v", counters, err)
		}
		if windows := w.Windows(); len(windows) != 0 {
			t.Errorf("one that is only counted has windows: %+v", windows)
		}
	})
}

func TestWindowsComeAsSoonAsTheyEnd(t *testing.T) {
	f, c := newContainer(t)
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, f)
		// The quota that the container's group has goes before the one it was asked with.
		w := s.Watch(id, uid, time.Second, 0)
		time.Sleep(500*ms + 1)
		c.throttled(5, 1, 40*ms)
		end := time.Now().Add(-ahead).UnixNano()
		time.Sleep(20 * ms)
		synctest.Wait()
		got := w.Windows()
		if len(got) != 1 {
			t.Fatalf("windows %+v, want one", got)
		}
		one := got[0]
		if one.Kind != signals.Throttled || one.Throttled != int64(40*ms) || one.CPUs != 1 || one.End-one.Start != int64(40*ms) ||
			one.End < end-int64(20*ms) || one.End > end+int64(20*ms) {
			t.Errorf("window %+v, want 40 ms that end at %d", one, end)
		}
		if again := w.Windows(); again != nil {
			t.Errorf("windows are given again: %+v", again)
		}

		// Resized: two CPUs under a quota of 150 ms are stopped for 25 ms each.
		c.put("cpu.max", "150000 100000\n")
		time.Sleep(Interval)
		c.throttled(6, 2, 90*ms)
		time.Sleep(20 * ms)
		synctest.Wait()
		if got := w.Windows(); len(got) != 1 || got[0].Throttled != int64(50*ms) || got[0].CPUs != min(2, cpus(t)) {
			t.Errorf("windows of two CPUs: %+v", got)
		}
	})
}

// cpus is how many CPUs this machine has.
func cpus(t *testing.T) int {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Skip(err)
	}
	return bytes.Count(text, []byte("\ncpu"))
}

func TestAContainerThatStartsAndEnds(t *testing.T) {
	f, c := newContainer(t)
	away := c.dir + ".away"
	if err := os.Rename(c.dir, away); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, f)
		w := s.Watch(id, uid, 0, 0)
		synctest.Wait()
		if _, err := w.Counters(); err == nil || !strings.Contains(err.Error(), "has its id in its name") {
			t.Errorf("before it is there: %v", err)
		}
		if err := os.Rename(away, c.dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * Interval)
		synctest.Wait()
		if _, err := w.Counters(); err != nil {
			t.Errorf("when it is there: %v", err)
		}
		if _, err := w.Counters(); !errors.Is(err, ErrNoNewer) {
			t.Errorf("when it is there: %v, want no newer sample", err)
		}
		other := s.Watch(id, uid, 0, 0)
		other.Close()
		other.Close()
		time.Sleep(Interval)
		synctest.Wait()
		if _, err := other.Counters(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("of a container that is no longer watched: %v", err)
		}
		if _, err := w.Counters(); err != nil {
			t.Errorf("beside a container that is no longer watched: %v", err)
		}
	})
}

func TestTheEndOfAStream(t *testing.T) {
	f, _ := newContainer(t)
	for _, c := range []struct {
		name string
		end  func(served)
		want string
	}{
		{"of the agent, which was stopped", func(s served) { s.cancel() }, "the stream of the node agent ended"},
		{"of the client", func(s served) { s.Close() }, "the conductor closed it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, f)
				w := s.Watch(id, uid, 0, 0)
				synctest.Wait()
				c.end(s)
				if err := <-s.agent; err != nil {
					t.Errorf("the agent: %v", err)
				}
				<-s.Done()
				if err := s.Err(); !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("the client: %v", err)
				}
				if _, err := w.Counters(); err != nil {
					t.Errorf("what came before is lost: %v", err)
				}
				for _, err := range []error{second(w.Counters()), second(s.Watch(id, uid, 0, 0).Counters())} {
					if !errors.Is(err, ErrEnded) {
						t.Errorf("counters: %v", err)
					}
				}
				w.Close()
			})
		})
	}
}

func second[T any](_ T, err error) error { return err }

// What is not of the protocol ends the conversation, with words on both sides.
func TestAnotherProtocol(t *testing.T) {
	f, _ := newContainer(t)
	for _, line := range []string{
		"GET / HTTP/1.1", "{}", `{"watch":{"id":0}}`, `{"watch":{"id":1},"forget":{"id":1}}`,
		`{"watch":{"id":1,"quota_ns":-1}}`, `{"interval":{"ns":1}}`, strings.Repeat("x", longestLine+1),
	} {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			agent := make(chan error, 1)
			go func() { agent <- Serve(t.Context(), theirs, f) }()
			go fmt.Fprintln(ours, line)
			var said string
			err := receive(ours, func(e *Event) error { said += e.Error; return nil })
			if err != nil || !strings.Contains(said, "same version") {
				t.Errorf("%.40q: it said %q, %v", line, said, err)
			}
			if err := <-agent; err == nil || !strings.Contains(err.Error(), "same version") {
				t.Errorf("%.40q: it ended with %v", line, err)
			}
			ours.Close()
		})
	}
	for _, line := range []string{"{}", "hello", `{"error":"no room"}`, `{"windows":{"id":1,"windows":[{"start":2,"end":1}]}}`} {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			c := NewClient(ours, 0)
			fmt.Fprintln(theirs, line)
			<-c.Done()
			if err := c.Err(); !errors.Is(err, ErrEnded) || err.Error() == ErrEnded.Error() {
				t.Errorf("%s: %v", line, err)
			}
			theirs.Close()
		})
	}
}

// A conductor that does not read any more is given up.
func TestAConductorThatDoesNotRead(t *testing.T) {
	f, _ := newContainer(t)
	synctest.Test(t, func(t *testing.T) {
		_, theirs := net.Pipe()
		began := time.Now()
		err := Serve(t.Context(), theirs, f)
		if err == nil || time.Since(began) != patience {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

func FuzzCommands(f *testing.F) {
	for _, c := range []Command{{Watch: &Watch{ID: 1, Container: id, Pod: uid, Quota: 5, Period: 10, CPUs: 2}}, {Forget: &ID{1}}, {Interval: &Every{int64(time.Second)}}} {
		line, _ := json.Marshal(c)
		f.Add(line)
	}
	finder := finderIn(machine(f, onV2, "/host/cgroup/"+id), "/host/cgroup")
	f.Fuzz(func(t *testing.T, text []byte) {
		err := receive(bytes.NewReader(text), func(c *Command) error {
			if c.Watch != nil {
				if _, err := finder.Find(c.Watch.Container, c.Watch.Pod); err == nil && c.Watch.Container != id {
					t.Errorf("found %q", c.Watch.Container)
				}
			}
			return c.check()
		})
		if err != nil && !errors.Is(err, errNotUnderstood) {
			t.Error(err)
		}
	})
}

func FuzzEvents(f *testing.F) {
	for _, e := range []Event{
		{Counters: countersOf(1, signals.Counters{At: time.Unix(5, 0), CPU: of(1.5), Memory: of[int64](7)})},
		{Windows: &Windows{ID: 1, Windows: []Window{{Kind: signals.Throttled, Start: 1, End: 2, Throttled: 1, CPUs: 1}}}},
		{Host: &Host{At: 1, CPUs: 2, Idle: 3}}, {Missing: &Missing{ID: 1, Why: "gone"}}, {Error: "no room"},
	} {
		line, _ := json.Marshal(e)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := &Client{watched: map[int64]*Watched{}}
		w := &Watched{client: c}
		c.watched[1] = w
		_ = receive(bytes.NewReader(text), c.take)
		w.Counters()
		for _, v := range w.Windows() {
			if v.End < v.Start {
				t.Errorf("window %+v", v)
			}
		}
	})
}

// What the group sets itself comes with each reading, and since when it is empty.
func TestWhatAGroupSetsItselfComes(t *testing.T) {
	f, c := newContainer(t)
	c.put("cgroup.events", "populated 1\nfrozen 0\n")
	c.put("../cpu.max", "10000 100000\n") // of the pod
	c.put("../memory.max", "4096\n")
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, f)
		w, missing := s.Watch("containerd://"+id, uid, 0, 0), s.Watch(other, uid, 0, 0)
		is := func(want Own, forHowLong time.Duration) {
			t.Helper()
			synctest.Wait()
			own, at, empty := w.Own()
			if own == nil || !at.Equal(time.Now().Add(-ahead)) || empty != forHowLong {
				t.Fatalf("%+v at %v, empty for %v, want %v", own, at, empty, forHowLong)
			}
			if d := cmp.Diff(want, *own); d != "" {
				t.Error(d)
			}
		}
		is(Own{Quota: int64(50 * ms), Period: int64(100 * ms), Memory: 100000}, 0)
		c.put("cpu.max", "max 50000\n")
		c.put("memory.max", "max\n")
		c.put("cpuset.cpus.effective", "0-2\n")
		time.Sleep(Interval)
		is(Own{Period: int64(50 * ms), CPUs: 3}, 0)
		c.put("cgroup.events", "populated 0\nfrozen 0\n")
		for i := range 3 {
			time.Sleep(Interval)
			is(Own{Period: int64(50 * ms), CPUs: 3, Empty: true}, time.Duration(i)*Interval)
		}
		c.put("cgroup.events", "populated 1\nfrozen 0\n")
		time.Sleep(Interval)
		is(Own{Period: int64(50 * ms), CPUs: 3}, 0)
		c.put("cpu.max", "garbled\n")
		time.Sleep(Interval)
		synctest.Wait()
		if own, _, _ := w.Own(); own != nil {
			t.Errorf("what cannot be read: %+v", own)
		}
		if own, _, _ := missing.Own(); own != nil {
			t.Errorf("of one that is not there: %+v", own)
		}
	})
}
