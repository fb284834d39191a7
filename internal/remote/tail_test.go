package remote

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/kube"
)

// stamped is a log's line as a kubelet gives it, at so many nanoseconds after a
// whole second.
func stamped(at int64, text string) string {
	return time.Unix(1_700_000_000, at).UTC().Format(time.RFC3339Nano) + " " + text + "\n"
}

// No line is lost, and none told twice, whatever the connection does.
func TestTheLogOverBrokenConnections(t *testing.T) {
	second := int64(time.Second)
	all := []string{stamped(5, "a"), stamped(7, "b"), stamped(7, "c"), stamped(second+1, "d"), stamped(second+1, "d"), stamped(second+2, "e")}
	whole := strings.Join(all, "")
	answers := []string{
		all[0] + all[1],       // the connection ends between two lines of one time
		whole[:len(all[0])+5], // and in the middle of one that was told
		whole[:len(whole)-3],  // and in the middle of one that was not
		"unable to retrieve container logs for containerd://1\n",
		whole,
		whole,
	}
	c, client := newCluster(t)
	var asked []string
	c.answer = func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		asked = append(asked, r.URL.Query().Get("sinceTime"))
		io.WriteString(w, answers[0])
		answers = answers[1:]
		return true
	}
	var got []string
	l := &tail{client: client, container: "x", line: func(s string) { got = append(got, s) }}
	l.on(t.Context(), "pod", 0)
	for len(answers) > 0 {
		if err := l.read(t.Context(), kube.LogOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"a", "b", "c", "d", "d", "e"}, got); d != "" {
		t.Error(d)
	}
	from, later := "2023-11-14T22:13:20Z", "2023-11-14T22:13:21Z"
	if d := cmp.Diff([]string{"", from, from, later, later, later}, asked); d != "" {
		t.Errorf("asked for what was written since: %s", d)
	}
}

// A container that was started again goes on where the one before ended; another
// pod begins anew, whatever its clock says.
func TestTheLogOfTheNextContainer(t *testing.T) {
	logs := map[string]string{ // by pod and previous
		"one ":     stamped(30, "third"),
		"one true": stamped(10, "first") + stamped(20, "second"),
		"two ":     stamped(5, "elsewhere"),
	}
	c, client := newCluster(t)
	c.answer = func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		pod := strings.Split(r.URL.Path, "/")[6]
		io.WriteString(w, logs[pod+" "+r.URL.Query().Get("previous")])
		return true
	}
	var got []string
	l := &tail{client: client, container: "x", line: func(s string) { got = append(got, s) }}
	l.on(t.Context(), "one", 0)
	l.give(strings.TrimSpace(stamped(10, "first")), 0)
	l.on(t.Context(), "one", 1)
	l.rest(t.Context())
	l.on(t.Context(), "two", 0)
	l.rest(t.Context())
	if d := cmp.Diff([]string{"first", "second", "third", "elsewhere"}, got); d != "" {
		t.Error(d)
	}
}

// A log that is followed is read again when its stream ends, until it is stopped.
func TestFollowingALog(t *testing.T) {
	c, client := newCluster(t)
	n := int64(0)
	c.answer = func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		if q := r.URL.Query(); q.Get("follow") != "true" || q.Get("timestamps") != "true" || q.Get("container") != "x" {
			t.Errorf("asked for %s", url.Values(q).Encode())
		}
		n++
		io.WriteString(w, stamped(n, fmt.Sprint(n)))
		return true
	}
	lines := make(chan string)
	l := &tail{client: client, container: "x", line: func(s string) { lines <- s }, wait: time.Millisecond}
	stop := l.start(t.Context(), "pod", 0)
	for i := range 5 {
		if got, want := <-lines, fmt.Sprint(i+1); got != want {
			t.Errorf("line %s, want %s", got, want)
		}
	}
	go func() {
		for range lines { // one may be under way
		}
	}()
	stop()
}
