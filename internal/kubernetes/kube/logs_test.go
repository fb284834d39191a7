package kube

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stamped is a log's line as a kubelet gives it, at so many nanoseconds after a
// whole second.
func stamped(at int64, text string) string {
	return time.Unix(1_700_000_000, at).UTC().Format(time.RFC3339Nano) + " " + text + "\n"
}

// tailed is a tail of logs that a test answers with, and what it gave.
func tailed(t *testing.T, answer func(pod string, r *http.Request) string) (*Tail, *[]string) {
	got := []string{}
	c := served(t, func(w http.ResponseWriter, r *http.Request) {
		text := answer(strings.Split(r.URL.Path, "/")[7], r)
		cut := strings.TrimSuffix(text, "CUT")
		io.WriteString(w, cut)
		if cut != text { // the connection breaks
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	})
	return &Tail{Client: c, Container: "x", Line: func(text string) { got = append(got, text) }}, &got
}

const second = int64(time.Second)

// No line is lost, and none given twice, whatever the connection does, and in
// whatever order a container's two outputs come.
func TestALogOverBrokenConnections(t *testing.T) {
	all := []string{stamped(5, "a"), stamped(7, "b"), stamped(7, "c"), stamped(6, "of the other output"),
		stamped(second+1, "d"), stamped(second+1, "d"), stamped(9, "late"), stamped(second+2, "e")}
	whole := strings.Join(all, "")
	answers := []string{
		all[0] + all[1],              // the answer ends between two lines of one time
		whole[:len(all[0])+5],        // and in the middle of one that was given
		whole[:len(whole)-3] + "CUT", // the connection breaks in the middle of one that was not
		"unable to retrieve container logs for containerd://1\n",
		strings.Join(all[4:], ""),     // what a server gives that is asked for the last second
		all[4] + all[7],               // and the rest after the log was truncated
		all[7] + stamped(second, "f"), // whose clock was set back
	}
	var asked []string
	l, got := tailed(t, func(_ string, r *http.Request) string {
		asked = append(asked, r.URL.Query().Get("sinceTime"))
		return answers[len(asked)-1]
	})
	l.Turn(t.Context(), "pod", 0)
	for i := range answers {
		if err := l.Read(t.Context(), false); (err != nil) != strings.HasSuffix(answers[i], "CUT") {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
	if d := cmp.Diff([]string{"a", "b", "c", "of the other output", "d", "d", "late", "e", "f"}, *got); d != "" {
		t.Error(d)
	}
	from, later := "2023-11-14T22:13:20Z", "2023-11-14T22:13:21Z"
	if d := cmp.Diff([]string{"", from, from, later, later, later, later}, asked); d != "" {
		t.Errorf("asked for what was written since: %s", d)
	}
}

// After a restart of the container the log continues where it ended; the log of another
// pod begins again, regardless of its clock.
func TestTheLogOfTheNextContainer(t *testing.T) {
	logs := map[string]string{ // by pod and previous
		"one ":     stamped(30, "third"),
		"one true": stamped(10, "first") + stamped(20, "second") + strings.TrimSpace(stamped(25, "killed in the")),
		"two ":     stamped(5, "elsewhere"),
	}
	l, got := tailed(t, func(pod string, r *http.Request) string { return logs[pod+" "+r.URL.Query().Get("previous")] })
	read := func() {
		t.Helper()
		if err := l.Read(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	l.Turn(t.Context(), "one", 0)
	logs["one "], logs["later"] = stamped(10, "first"), logs["one "]
	read()
	logs["one "] = logs["later"]
	l.Turn(t.Context(), "one", 1)
	read()
	l.Turn(t.Context(), "two", 0)
	read()
	if d := cmp.Diff([]string{"first", "second", "killed in the", "third", "elsewhere"}, *got); d != "" {
		t.Error(d)
	}
}

// The last words of a container that did not end their line are given once, when
// it is known that no more comes.
func TestALineWithoutAnEnd(t *testing.T) {
	log := stamped(1, "whole")
	l, got := tailed(t, func(string, *http.Request) string { return log })
	l.Turn(t.Context(), "pod", 0)
	is := func(want ...string) {
		t.Helper()
		if err := l.Read(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(*got, want) {
			t.Errorf("%q, want %q", *got, want)
		}
	}
	l.Flush() // of nothing
	is("whole")
	log += strings.TrimSpace(stamped(2, "half"))
	is("whole")
	log += " a line\n"
	is("whole", "half a line")
	log += strings.TrimSpace(stamped(3, "panic: no"))
	is("whole", "half a line")
	l.Flush()
	l.Flush()
	is("whole", "half a line", "panic: no")
	l.Flush()
	is("whole", "half a line", "panic: no")
}

// A line that is too long is cut.
func TestALineThatIsTooLong(t *testing.T) {
	long, got := tailed(t, func(string, *http.Request) string {
		return stamped(1, strings.Repeat("a", 3<<20)) + stamped(2, "b")
	})
	long.Turn(t.Context(), "pod", 0)
	if err := long.Read(t.Context(), false); err != nil || len(*got) != 2 || len((*got)[0]) < mostLine/2 || len((*got)[0]) > mostLine || (*got)[1] != "b" {
		t.Errorf("%d lines, %v", len(*got), err)
	}
}

func TestLogOptions(t *testing.T) {
	l, _ := tailed(t, func(_ string, r *http.Request) string {
		if got, want := r.URL.Query().Encode(), "container=x&follow=true&timestamps=true"; got != want {
			t.Errorf("asked for %s, want %s", got, want)
		}
		return ""
	})
	l.Turn(t.Context(), "pod", 0)
	if err := l.Read(t.Context(), true); err != nil {
		t.Error(err)
	}
	gone := &Tail{Client: served(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(404) }), Line: func(string) {}}
	if err := gone.Read(t.Context(), true); err == nil {
		t.Error("a log that is not there was read")
	}
}
