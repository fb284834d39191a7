// Command server is a service for tests with known faults: each route does one thing to
// the client or to the server itself. It is not a sample service.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sys/unix"
)

func main() {
	port := flag.Int("port", 0, "port to listen on")
	contained := flag.Bool("contained", false, "listen on all addresses, at the port in PORT, as a container's program does")
	startup := flag.Duration("startup", 0, "how long to wait before listening")
	warm := flag.Duration("warm", 0, "how long to listen before answering, as a service that fills its caches")
	fail := flag.Bool("fail", false, "exit with status 3 instead of listening")
	deaf := flag.Bool("deaf", false, "ignore SIGTERM")
	protocol := flag.String("protocol", "http/1.1", "what it speaks, and nothing else: http/1.1, https, h2 or h2c")
	flag.Parse()
	fmt.Println("server: pid", os.Getpid(), "dependency", os.Getenv("DEPENDENCY"))
	if *fail {
		fmt.Fprintln(os.Stderr, "server: failing as requested")
		os.Exit(3)
	}
	if *deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	time.Sleep(*startup)
	s := &server{kept: map[int][]byte{}, pool: make(chan bool, 8)}
	address := fmt.Sprintf("127.0.0.1:%d", *port)
	if *contained {
		address = ":" + os.Getenv("PORT")
	}
	listener, err := net.Listen("tcp", address)
	time.Sleep(*warm)
	if err == nil {
		err = serve(listener, s.routes(), *protocol)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// serve serves one protocol. Its certificate is httptest's, which no client trusts.
func serve(on net.Listener, routes http.Handler, protocol string) error {
	s := httptest.NewUnstartedServer(routes)
	s.Listener.Close()
	s.Listener, s.Config.Protocols = on, new(http.Protocols)
	s.Config.Protocols.SetHTTP1(protocol == "http/1.1" || protocol == "https")
	s.Config.Protocols.SetHTTP2(protocol == "h2")
	s.Config.Protocols.SetUnencryptedHTTP2(protocol == "h2c")
	s.EnableHTTP2 = protocol == "h2"
	if protocol == "https" || protocol == "h2" {
		s.StartTLS()
	} else {
		s.Start()
	}
	select {}
}

type server struct {
	slept    sync.Once
	requests atomic.Int64
	actions  atomic.Int64
	mu       sync.Mutex
	kept     map[int][]byte
	serial   sync.Mutex
	pool     chan bool
	busy     atomic.Int64
	broken   atomic.Bool
	waits    prometheus.Histogram
}

// above sleeps 5 ms, and calls a function from then on once more than a number of
// requests are in flight.
func (s *server) above(do func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.busy.Add(1) > int64(number(r, "above")) {
			s.broken.Store(true)
		}
		defer s.busy.Add(-1)
		if s.broken.Load() {
			do()
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *server) metrics() http.Handler {
	s.waits = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "dependency_seconds", Help: "Waiting for the dependency.",
		Buckets: []float64{.001, .01, .02, .05, .1, .2, .3, .5, 1}})
	registry := prometheus.NewRegistry()
	registry.MustRegister(s.waits)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// spin uses CPU time of the thread that it runs on. The clock of the thread is exact:
// getrusage(2) is as old as the last tick of the kernel, up to 4 ms.
func spin(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var t unix.Timespec
		unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
		return time.Duration(t.Nano())
	}
	for start := used(); used()-start < d; {
	}
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	every, _ := strconv.Atoi(os.Getenv("EVERY"))
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	// The first request is in the log with its time, as a witness of when the load began.
	mux.HandleFunc("/sleep", func(w http.ResponseWriter, r *http.Request) {
		s.slept.Do(func() { fmt.Println("server: first sleep at", time.Now().UnixNano()) })
		time.Sleep(time.Duration(number(r, "ms")) * time.Millisecond)
	})
	mux.HandleFunc("/burn", func(w http.ResponseWriter, r *http.Request) {
		var u syscall.Rusage
		for start := cpu(&u); cpu(&u)-start < time.Duration(number(r, "ms"))*time.Millisecond; {
		}
	})
	// An answer of a number of bytes.
	mux.HandleFunc("/bytes", func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, number(r, "n"))) })
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(number(r, "code")) })
	// Every nth request fails: the availability is known to the request, or to
	// the environment.
	mux.HandleFunc("/every", func(w http.ResponseWriter, r *http.Request) {
		if s.requests.Add(1)%int64(cmp.Or(number(r, "n"), every)) == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("/never", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/exit", func(w http.ResponseWriter, r *http.Request) { os.Exit(number(r, "code")) })
	// A request uses an amount of CPU time of its own thread, regardless of other
	// requests.
	mux.HandleFunc("/spin", func(w http.ResponseWriter, r *http.Request) { spin(time.Duration(number(r, "us")) * time.Microsecond) })
	// Every nth request waits for a dependency, which /metrics reports.
	mux.HandleFunc("/ask", func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		if s.requests.Add(1)%int64(number(r, "every")) == 0 {
			time.Sleep(time.Duration(number(r, "ms")) * time.Millisecond)
		}
		s.waits.Observe(time.Since(start).Seconds())
	})
	mux.Handle("/metrics", s.metrics())
	// One request at a time: a service whose limit is its own lock. It sleeps, and computes.
	mux.HandleFunc("/serial", func(w http.ResponseWriter, r *http.Request) {
		s.serial.Lock()
		defer s.serial.Unlock()
		time.Sleep(time.Duration(number(r, "ms")) * time.Millisecond)
		spin(time.Duration(number(r, "us")) * time.Microsecond)
	})
	// Eight requests at a time, each of which computes and then waits.
	mux.HandleFunc("/pool", func(w http.ResponseWriter, r *http.Request) {
		s.pool <- true
		defer func() { <-s.pool }()
		spin(time.Duration(number(r, "us")) * time.Microsecond)
		time.Sleep(time.Duration(number(r, "ms")) * time.Millisecond)
	})
	// Faults that start once more than a number of requests are in flight.
	mux.HandleFunc("/crash", s.above(func() { os.Exit(7) }))
	mux.HandleFunc("/hang", s.above(func() { select {} }))
	// Each request allocates memory, writes to all of it, and keeps it.
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
