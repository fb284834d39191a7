// Command server is a service for tests, whose faults are known: each route does
// one thing to the caller or to itself.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	port := flag.Int("port", 0, "port to listen on")
	startup := flag.Duration("startup", 0, "how long to wait before listening")
	fail := flag.Bool("fail", false, "exit with status 3 instead of listening")
	deaf := flag.Bool("deaf", false, "ignore SIGTERM")
	flag.Parse()
	fmt.Println("server: pid", os.Getpid(), "dependency", os.Getenv("DEPENDENCY"))
	if *fail {
		fmt.Fprintln(os.Stderr, "server: told to fail")
		os.Exit(3)
	}
	if *deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	time.Sleep(*startup)
	s := &server{kept: map[int][]byte{}}
	if err := http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port), s.routes()); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

type server struct {
	requests atomic.Int64
	actions  atomic.Int64
	mu       sync.Mutex
	kept     map[int][]byte
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/sleep", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(number(r, "ms")) * time.Millisecond)
	})
	mux.HandleFunc("/burn", func(w http.ResponseWriter, r *http.Request) {
		var u syscall.Rusage
		for start := cpu(&u); cpu(&u)-start < time.Duration(number(r, "ms"))*time.Millisecond; {
		}
	})
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(number(r, "code")) })
	// Every nth request fails: the availability is known to the request.
	mux.HandleFunc("/every", func(w http.ResponseWriter, r *http.Request) {
		if s.requests.Add(1)%int64(number(r, "n")) == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("/never", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/exit", func(w http.ResponseWriter, r *http.Request) { os.Exit(number(r, "code")) })
	// Each request keeps so much memory, and writes to all of it.
	mux.HandleFunc("/keep", func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, number(r, "mb")<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		s.mu.Lock()
		s.kept[len(s.kept)] = b
		s.mu.Unlock()
	})
	mux.HandleFunc("POST /action", func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("server: action", s.actions.Add(1))
	})
	return mux
}

func number(r *http.Request, name string) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil {
		return 0
	}
	return n
}

func cpu(u *syscall.Rusage) time.Duration {
	syscall.Getrusage(syscall.RUSAGE_SELF, u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
