package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
)

// sat is a session in a hurry with a run that was started, and whose conductor's
// pod "one" runs and has a record.
type sat struct {
	*followed
	session *Session
	noted   chan string
	record  func(http.ResponseWriter)
}

func newSat(t *testing.T) *sat {
	t.Helper()
	s := &sat{followed: newFollowed(t), noted: make(chan string, 100)}
	s.pod(t, "one", 1, nil)
	s.record = func(w http.ResponseWriter) { w.Write(packed(t, "run.json", "{}")) }
	usual := s.cluster.answer
	s.cluster.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		if strings.HasSuffix(r.URL.Path, ":7443/proxy/record") {
			s.record(w)
			return true
		}
		return usual(w, r, body)
	}
	s.session = &Session{Client: s.follower.Client, Run: s.follower.Run, Out: filepath.Join(t.TempDir(), "mine"), Again: "AGAIN", Clean: "CLEAN",
		Line: func(string) {}, Note: func(words string) { s.noted <- words }}
	f := &s.session.follower
	f.every, f.patient, f.closed = time.Millisecond, time.Hour, time.Hour
	return s
}

// stopped reports whether the run has the stop annotation.
func (s *sat) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := s.objects[core+"configmaps/"+Name(s.session.Run)]
	return owner != nil && strings.Contains(fmt.Sprint(owner["metadata"]), StopAnnotation)
}

func (s *sat) removed() bool { return len(s.paths()) == 0 }

func TestHowASessionEnds(t *testing.T) {
	ends := func(stage conductor.Stage, code int, words string) func(*sat) {
		return func(s *sat) {
			end := state(stage)
			end.Exit, end.Error = code, words
			s.onState = func() (conductor.State, int) { return end, 200 }
		}
	}
	without := func(code int, set func(*sat)) func(*sat) {
		return func(s *sat) {
			set(s)
			s.record = func(w http.ResponseWriter) {
				refuse(w, code, map[int]metav1.StatusReason{403: metav1.StatusReasonForbidden}[code], "no")
			}
		}
	}
	job, pod := batch+"jobs/millicore-quick-1123-021818-x7", core+"pods/one"
	for _, test := range []struct {
		name             string
		set              func(*sat)
		fetched, removed bool
		is               error  // nil: it is none of the named errors
		want             string // "": no error
	}{
		{"it is done", ends(conductor.Done, 0, ""), true, true, nil, ""},
		{"its objective was missed, as the record shows", ends(conductor.Done, exit.Missed, ""), true, true, nil, ""},
		{"its user ended it", ends(conductor.Stopped, exit.Interrupted, ""), true, true, conductor.ErrInterrupted, "interrupted; the record holds what was measured until then"},
		{"it failed", ends(conductor.Failed, exit.Failed, "the disk is full"), true, true, nil, "the disk is full"},
		{"its experiment is wrong", ends(conductor.Failed, exit.Usage, "no such service"), true, true, ErrUsage, "no such service"},
		{"it failed before it had a record", without(404, ends(conductor.Failed, exit.Usage, "no such service")), false, true, ErrUsage,
			"no such service\nfetch the record of run quick-1123-021818-x7: the run has no record"},
		{"the record may not be fetched", without(403, ends(conductor.Done, 0, "")), false, false, nil,
			"fetch the record of run quick-1123-021818-x7: no; the cluster keeps it for a while, and AGAIN fetches it"},
		{"its conductor is lost", func(s *sat) {
			s.take(pod)
			s.put(t, job, &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}}})
		}, false, true, ErrLost, "run quick-1123-021818-x7: its record cannot be fetched: the conductor has failed and is not restarted (it is complete)"},
		{"it is gone", func(s *sat) { s.take(pod); s.take(job) }, false, false, ErrGone, "run quick-1123-021818-x7 in namespace here: " + ErrGone.Error()},
		{"no pod for too long", func(s *sat) { s.take(pod); s.session.follower.patient = 0 }, false, true, ErrWaits,
			"run quick-1123-021818-x7: the conductor has not started: for 0s the conductor's pod does not exist yet"},
		{"no pod for too long, of somebody else's run", func(s *sat) { s.take(pod); s.session.follower.patient, s.session.Attached = 0, true }, false, false, ErrWaits,
			"run quick-1123-021818-x7: the conductor has not started: for 0s the conductor's pod does not exist yet; to follow the run again, use AGAIN"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSat(t)
			test.set(s)
			fetched, err := s.session.Follow(t.Context())
			if fetched != test.fetched || s.removed() != test.removed {
				t.Errorf("fetched %v, removed %v", fetched, s.removed())
			}
			words := ""
			if err != nil {
				words = err.Error()
			}
			if d := cmp.Diff(test.want, words); d != "" {
				t.Error(d)
			}
			for _, one := range []error{conductor.ErrInterrupted, ErrUsage, ErrLost, ErrGone, ErrWaits} {
				if errors.Is(err, one) != (one == test.is) {
					t.Errorf("error %q: is %q: %v", words, one, one != test.is)
				}
			}
			if test.fetched {
				if d := cmp.Diff(map[string]string{"run.json": "{}"}, tree(t, s.session.Out)); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// If a conductor is lost permanently, the record after its last trial remains.
func TestARunThatIsLostInItsMiddle(t *testing.T) {
	for _, test := range []struct {
		name string
		lose func(*sat)
		is   error
	}{
		{"its conductor", func(s *sat) {
			s.take(core + "pods/one")
			s.put(t, batch+"jobs/millicore-quick-1123-021818-x7", &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}}})
		}, ErrLost},
		{"all of it", func(s *sat) { s.take(core + "pods/one"); s.take(batch + "jobs/millicore-quick-1123-021818-x7") }, ErrGone},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSat(t)
			s.session.backupEvery = time.Nanosecond
			running := state(conductor.Running)
			running.Done = 1
			s.onState = func() (conductor.State, int) {
				if _, err := os.Stat(filepath.Join(filepath.Dir(s.session.Out), "."+s.session.Run+"-so-far", "run.json")); err == nil {
					test.lose(s)
				}
				return running, 200
			}
			fetched, err := s.session.Follow(t.Context())
			if want := s.session.Out + " has the record as last fetched, with 1 trial"; !fetched || !errors.Is(err, test.is) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("fetched %v, %v; want %s", fetched, err, want)
			}
			if got := tree(t, s.session.Out); got["run.json"] != "{}" {
				t.Errorf("there is %v", got)
			}
			if left := tree(t, filepath.Dir(s.session.Out)); len(left) != 1 {
				t.Errorf("there is %v", left)
			}
		})
	}
}

// Ctrl-C ends the run cleanly, also where the cluster does not take it at once.
func TestCtrlCWhileItMeasures(t *testing.T) {
	s := newSat(t)
	ctx, interrupt := context.WithCancel(t.Context())
	s.onState = func() (conductor.State, int) {
		if s.stopped() {
			return state(conductor.Stopped), 200
		}
		interrupt()
		return state(conductor.Running), 200
	}
	usual, refused := s.cluster.answer, false
	s.cluster.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		if r.Method == http.MethodPatch && strings.Contains(fmt.Sprint(body), StopAnnotation) && !refused {
			refused = true
			return refuse(w, 409, metav1.StatusReasonConflict, "not now")
		}
		return usual(w, r, body)
	}
	if fetched, err := s.session.Follow(ctx); !fetched || err != conductor.ErrInterrupted || !s.removed() {
		t.Errorf("fetched %v, %v", fetched, err)
	}
	if got, want := <-s.noted, "ending the run and fetching its record. Press Ctrl-C again to stop, and fetch it later with AGAIN"; got != want {
		t.Errorf("note %q, want %q", got, want)
	}
	if got, want := <-s.noted, "stop run quick-1123-021818-x7: not now; trying again"; got != want {
		t.Errorf("note %q, want %q", got, want)
	}
}

// Who takes up a run that others began removes nothing with an early Ctrl-C.
func TestCtrlCBeforeTheFirstLookAtSomebodysRun(t *testing.T) {
	s := newSat(t)
	s.session.Attached = true
	s.onState = func() (conductor.State, int) {
		if s.stopped() {
			return state(conductor.Stopped), 200
		}
		return state(conductor.Running), 200
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if fetched, err := s.session.Follow(ctx); !fetched || err != conductor.ErrInterrupted {
		t.Errorf("fetched %v, %v; want what was measured", fetched, err)
	}
}

// A pod that goes between the run's end and the fetching has taken the record with
// it; what was fetched before is left.
func TestAPodThatGoesBeforeItsRecordIsFetched(t *testing.T) {
	s := newSat(t)
	s.session.backupEvery = time.Nanosecond
	running := state(conductor.Running)
	running.Done = 1
	var gone atomic.Bool
	s.record = func(w http.ResponseWriter) {
		if gone.Load() {
			w.WriteHeader(404)
			json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status"}, Code: 404, Reason: metav1.StatusReasonNotFound,
				Message: `pods "one" not found`, Details: &metav1.StatusDetails{Name: "one", Kind: "pods"}})
			return
		}
		w.Write(packed(t, "run.json", "{}"))
	}
	s.onState = func() (conductor.State, int) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(s.session.Out), "."+s.session.Run+"-so-far", "run.json")); err == nil {
			gone.Store(true)
			return state(conductor.Done), 200
		}
		return running, 200
	}
	fetched, err := s.session.Follow(t.Context())
	if !fetched || err == nil || errors.Is(err, ErrNoRecord) || !strings.Contains(err.Error(), "as last fetched, with 1 trial") {
		t.Errorf("fetched %v, %v", fetched, err)
	}
	if s.removed() {
		t.Error("the run is removed")
	}
}

// A run that has measured nothing is of no use, and is removed.
func TestCtrlCBeforeItMeasures(t *testing.T) {
	s := newSat(t)
	s.take(core + "pods/one")
	ctx, interrupt := context.WithCancel(t.Context())
	s.onLook = func(look int64) {
		if look == 3 {
			interrupt()
		}
	}
	fetched, err := s.session.Follow(ctx)
	if fetched || !errors.Is(err, conductor.ErrInterrupted) || err.Error() != "interrupted before the first measurement; the run was removed" || !s.removed() {
		t.Errorf("fetched %v, %v, there is %v", fetched, err, s.paths())
	}
}

// The record of a run that has ended is fetched nevertheless.
func TestCtrlCWhileTheRecordIsFetched(t *testing.T) {
	s := newSat(t)
	ctx, interrupt := context.WithCancel(t.Context())
	whole := s.record
	s.record = func(w http.ResponseWriter) {
		interrupt()
		if got, want := <-s.noted, "the run has ended; fetching its record. Press Ctrl-C again to stop, and fetch it later with AGAIN"; got != want {
			t.Errorf("note %q, want %q", got, want)
		}
		if s.stopped() {
			t.Error("a run that has ended gets a stop annotation")
		}
		whole(w)
	}
	if fetched, err := s.session.Follow(ctx); !fetched || err != nil || !s.removed() {
		t.Errorf("fetched %v, %v", fetched, err)
	}
}

// A terminal that is closed ends nothing.
func TestATerminalThatIsGone(t *testing.T) {
	s := newSat(t)
	s.session.HungUp = func() bool { return true }
	ctx, hangUp := context.WithCancel(t.Context())
	s.onState = func() (conductor.State, int) {
		hangUp()
		return state(conductor.Running), 200
	}
	fetched, err := s.session.Follow(ctx)
	if fetched || !errors.Is(err, conductor.ErrInterrupted) || err.Error() != "the terminal was closed; the run continues; to follow it again, use AGAIN" {
		t.Errorf("fetched %v, %v", fetched, err)
	}
	if s.removed() || s.stopped() {
		t.Error("the run was ended")
	}
}

// A failed removal is noted, with the command that removes the run, and is no error.
func TestARunThatCannotBeRemoved(t *testing.T) {
	s := newSat(t)
	usual := s.cluster.answer
	s.cluster.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		return r.Method == http.MethodDelete && refuse(w, 403, metav1.StatusReasonForbidden, "you may not") || usual(w, r, body)
	}
	if fetched, err := s.session.Follow(t.Context()); !fetched || err != nil {
		t.Errorf("fetched %v, %v", fetched, err)
	}
	if got, want := <-s.noted, "remove run quick-1123-021818-x7: you may not; to remove the run, use CLEAN"; got != want {
		t.Errorf("note %q, want %q", got, want)
	}
}

func TestStartingASession(t *testing.T) {
	needs := Requirements{there("a", "well"), unknown("b", "who knows"), {"c", Noted, "mind that"}}
	t.Run("all is there", func(t *testing.T) {
		c, client := newCluster(t)
		var notes []string
		s := &Session{Client: client, Note: func(words string) { notes = append(notes, words) }}
		if err := s.Start(t.Context(), asked(t, ""), needs); err != nil || len(c.paths()) == 0 {
			t.Errorf("%v, there is %v", err, c.paths())
		}
		if d := cmp.Diff([]string{"b: who knows", "c: mind that"}, notes); d != "" {
			t.Error(d)
		}
	})
	t.Run("something is missing", func(t *testing.T) {
		c, client := newCluster(t)
		s := &Session{Client: client}
		if err := s.Start(t.Context(), asked(t, ""), append(needs, missing("d", "make it"))); !errors.Is(err, ErrUsage) || len(c.asked) > 0 {
			t.Errorf("%v, asked %v", err, c.asked)
		}
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		c, client := newCluster(t)
		ctx, interrupt := context.WithCancel(t.Context())
		c.answer = func(_ http.ResponseWriter, r *http.Request, _ map[string]any) bool {
			if strings.HasSuffix(r.URL.Path, "/roles") {
				interrupt()
			}
			return false
		}
		s := &Session{Client: client, Note: func(string) {}}
		err := s.Start(ctx, asked(t, ""), needs)
		if !errors.Is(err, conductor.ErrInterrupted) || err.Error() != "interrupted; what was started was removed" || len(c.paths()) > 0 {
			t.Errorf("%v, there is %v", err, c.paths())
		}
	})
	t.Run("Ctrl-C while it is checked", func(t *testing.T) {
		_, client := newCluster(t)
		ctx, interrupt := context.WithCancel(t.Context())
		interrupt()
		_, err := (&Session{Client: client}).Check(ctx, asked(t, ""))
		if !errors.Is(err, conductor.ErrInterrupted) || err.Error() != "interrupted; nothing was started" {
			t.Error(err)
		}
	})
}
