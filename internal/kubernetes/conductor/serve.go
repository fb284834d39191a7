package conductor

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// handler answers all requests. Each needs a token of its own (tokens.go).
func (h *Hub) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/agent/{name}", h.ofStream(h.stream))
	mux.HandleFunc("/node/{name}", h.ofStream(h.stream))
	mux.HandleFunc("GET /state", h.ofReader(h.state))
	mux.HandleFunc("GET /record", h.ofReader(h.record))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { unauthorized(w, "a token of this path") })
	return mux
}

func (h *Hub) state(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(h.options.State()) // the client is gone
}

// stream upgrades a request to a stream, and keeps it until it is taken.
func (h *Hub) stream(w http.ResponseWriter, r *http.Request) {
	if !validSeat(r.URL.Path) {
		http.Error(w, fmt.Sprintf("%q is not a stream: want /agent/NUMBER or /node/NAME", r.URL.Path), http.StatusNotFound)
		return
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), upgrade) {
		w.Header().Set("Upgrade", upgrade)
		http.Error(w, "this path serves streams: want the header Upgrade: "+upgrade, http.StatusUpgradeRequired)
		return
	}
	if !h.enter() {
		http.Error(w, "the run is over", http.StatusGone)
		return
	}
	defer h.hosted.Done()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "this connection cannot be a stream", http.StatusInternalServerError)
		return
	}
	h.host(r.URL.Path, conn, buffered.Reader)
}

// host lets a new stream wait on its seat. It returns when the stream was taken or
// closed.
func (h *Hub) host(path string, conn net.Conn, in *bufio.Reader) {
	_ = conn.SetDeadline(time.Now().Add(answerWithin)) // an error shows when it is written to
	_, err := conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + upgrade + "\r\n\r\n"))
	if err != nil {
		conn.Close()
		return
	}
	waits := newWaiting(&stream{Conn: conn, in: in})
	if !h.sit(path, waits) { // the run is over, or there are too many; the client connects again
		conn.Close()
		return
	}
	if !waits.keep(askEvery) {
		h.leave(path, waits)
		conn.Close()
	}
}

// enter counts a request with a stream. It returns false if the run is over.
func (h *Hub) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		h.hosted.Add(1)
	}
	return !h.ended
}

// mostIndex is the highest number of an agent.
const mostIndex = 1_000_000

// validSeat reports whether a path is that of an agent or a node agent. There is one
// way to write each.
func validSeat(path string) bool {
	if index, ok := strings.CutPrefix(path, "/agent/"); ok {
		n, err := strconv.Atoi(index)
		return err == nil && n >= 0 && n <= mostIndex && strconv.Itoa(n) == index
	}
	name, ok := strings.CutPrefix(path, "/node/")
	if !ok || name == "" || len(name) > 253 {
		return false
	}
	for _, c := range []byte(name) { // the name of a Node is that of a DNS subdomain
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.') {
			return false
		}
	}
	return true
}
