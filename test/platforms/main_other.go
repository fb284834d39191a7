//go:build !linux

// Command platforms needs Linux: it starts a Docker daemon and limits of its own.
package main

func main() { panic("this needs Linux") }
