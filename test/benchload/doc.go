// Command benchload measures Millicore's generator against its peers on one
// machine, with HTTP/1.1, HTTP/2, TLS and gRPC: what a request costs, what latencies they report of a service whose
// latencies are known, and what memory they take. Figures of a machine drift,
// so the tools run in rounds, each in a random order, and are compared by ratios within
// rounds. It is not a part of the tests: it measures for a quarter of an hour.
//
//	make bench-load                       # installs the peers first; a quarter of an hour
//	make bench-load ROUNDS=2 SECONDS=3    # a look
//
// It prints tables in Markdown, and writes all measurements to a folder. A peer that is
// not installed is left out and listed.
package main
