package traffic

import "strings"

// flagsOfOthers are flags of hey, wrk, wrk2 and oha, each with the flag of load for it.
var flagsOfOthers = map[string]string{
	"q":                  "-R sets the rate of all connections together (-q of hey is that of one worker)",
	"z":                  "-d sets the duration, as in -d 30s",
	"L":                  "percentiles are printed always, and --hlog writes all of them",
	"latency":            "percentiles are printed always, and --hlog writes all of them",
	"latency-correction": "with -R latencies always count from when a request was due",
	"D":                  "-b @FILE sends a file",
	"T":                  "-H 'Content-Type: TYPE' sets the type of the body",
	"A":                  "-H 'Accept: TYPE' sets the header",
	"a":                  "--basic-env names a variable with user:password",
	"s":                  "{{seq}}, {{uuid}} and {{rand 1 100}} in path, headers and body vary the requests; there are no scripts",
	"script":             "{{seq}}, {{uuid}} and {{rand 1 100}} in path, headers and body vary the requests; there are no scripts",
	"cpus":               "-t sets the number of threads",
	"p":                  "--streams sets the number of requests at a time on a connection of HTTP/2",
	"host":               "-H 'Host: NAME' sets the header, and --connect-to where to connect",
	"disable-redirects":  "redirects are not followed, unless --follow is set",
	"h2":                 "--http2 speaks HTTP/2",
	"disable-keepalive":  "--no-keepalive makes a connection for each request",
	"no-tui":             "without a terminal there is no view, and --json prints the result",
}

// Instead is what to write for a command in place of a flag of another tool or of load, without
// its dashes, and perhaps with its value as in q100; "": the flag is not known.
func Instead(command, flag string) string {
	switch {
	case command == "try" && flag == "replay":
		return "the search sets the load; millicore load --replay sends the requests of an access log"
	case command != "load":
		return ""
	}
	if len(flag) > 1 && strings.ContainsAny(flag[1:2], "0123456789=") {
		flag = flag[:1]
	}
	return flagsOfOthers[flag]
}
