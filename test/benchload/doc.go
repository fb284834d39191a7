// Command benchload measures Millicore's generator against its peers on one
// machine: what a request costs, what latencies they tell of a service whose
// latencies are known, and what memory they take. Figures drift with a machine,
// so that tools are run in turns, in another order each round, and compared by
// the ratios within rounds.
//
//	make bench-load                       # installs the peers first; a quarter of an hour
//	make bench-load ROUNDS=2 SECONDS=3    # a look
//
// It prints tables in Markdown, and writes all that it measured into a folder. A
// peer that is not installed is left out, and that is said.
package main
