//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench-load: it needs Linux, as Millicore's generator does")
	os.Exit(1)
}
