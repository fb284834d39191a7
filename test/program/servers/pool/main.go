// Pool answers each request in one of as many slots as GOMAXPROCS, each of which waits for another
// service: as programs do that size a pool of workers by the number of CPUs.
package main

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"time"
)

// wait is how long the other service takes.
const wait = 10 * time.Millisecond

func main() {
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		slots <- struct{}{}
		time.Sleep(wait)
		<-slots
		fmt.Fprintln(w, cap(slots))
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
	os.Exit(1)
}
