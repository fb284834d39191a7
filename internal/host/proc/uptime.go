package proc

import (
	"strconv"
	"strings"
	"time"
)

// ParseUptime parses uptime (proc_uptime(5)), in seconds since the boot; 0 if it is
// malformed.
//
//	350735.47 234388.90
func ParseUptime(text []byte) time.Duration {
	seconds, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseFloat(seconds, 64)
	if err != nil || !(n > 0 && n < 1e9) {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}
