// A Go server for the matrix of advice: /cpu computes, /wait computes little and waits,
// /garbage allocates 4 MiB that nothing keeps.
package main

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func work(rounds int) (sum [32]byte) {
	block := make([]byte, 4096)
	for range rounds {
		sum = sha256.Sum256(block)
		copy(block, sum[:])
	}
	return sum
}

var kept []byte

func main() {
	http.HandleFunc("/cpu", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "%x\n", work(600)) })
	http.HandleFunc("/wait", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(20 * time.Millisecond)
		fmt.Fprintf(w, "%x\n", work(60))
	})
	http.HandleFunc("/garbage", func(w http.ResponseWriter, _ *http.Request) {
		b := make([]byte, 4<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		kept = b
		fmt.Fprintln(w, "ok")
	})
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	panic(http.Serve(l, nil))
}
