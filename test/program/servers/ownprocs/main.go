// Command ownprocs is a server for tests that chooses its GOMAXPROCS itself,
// whatever its environment says.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
)

func main() {
	runtime.GOMAXPROCS(3)
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err == nil {
		err = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }))
	}
	fmt.Fprintln(os.Stderr, "ownprocs:", err)
	os.Exit(1)
}
