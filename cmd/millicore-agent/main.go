// Command millicore-agent makes traffic as the lab tells it: commands come in on
// standard input, frames go out on standard output, both one JSON value a line.
// It ends when its input does.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/millicore/millicore/internal/load/agent"
)

// garbage is how much may gather before it is collected, in percent of what is
// in use. Requests make none and frames little; collecting it seldom keeps the
// event loops undisturbed for some 30 MB.
const garbage = 800

func main() {
	debug.SetGCPercent(garbage)
	// An interrupt from the terminal goes to the lab too, which then ends the
	// trial in good order.
	signal.Ignore(os.Interrupt)
	if err := agent.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "millicore-agent:", err)
		os.Exit(1)
	}
}
