package launch

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// stamped is a log's line as a kubelet gives it, at so many nanoseconds after a
// whole second.
func stamped(at int64, text string) string {
	return time.Unix(1_700_000_000, at).UTC().Format(time.RFC3339Nano) + " " + text + "\n"
}

// A log that is followed is read again when its stream ends, until it is stopped.
func TestFollowingALog(t *testing.T) {
	c, client := newCluster(t)
	n := int64(0)
	c.answer = func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		n++
		io.WriteString(w, stamped(n, fmt.Sprint(n)))
		return true
	}
	lines := make(chan string)
	f := &Follower{Client: client, every: time.Millisecond}
	stop := f.tail(t.Context(), &kube.Tail{Client: client, Container: "x", Line: func(s string) { lines <- s }}, "pod", 0)
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
