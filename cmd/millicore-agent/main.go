// Command millicore-agent makes traffic as the lab tells it: commands come in on
// standard input, frames go out on standard output, both one JSON value a line.
// It ends when its input does.
package main

import (
	"fmt"
	"os"

	"github.com/millicore/millicore/internal/load/agent"
)

func main() {
	if err := agent.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "millicore-agent:", err)
		os.Exit(1)
	}
}
