// Command rates draws random services whose truth is known, analyses simulated records of
// them as millicore does, and counts how often each statement of the summary is false. It
// prints the table of docs/statistics.md:
//
//	go run ./test/rates -n 40 -seed 200000
//
// With -out it appends the statements of each record to a file, so that several short runs
// give one table (-table FILE). No rule was tuned on the seeds from 200,000.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// ways are what is done with a service.
var ways = []struct {
	name string
	of   func(kind, uint64) ([]said, error)
}{{"search", searched}, {"constant", constant}, {"pairs", pairs}}

func main() {
	n := flag.Int("n", 10, "records of each kind and way")
	first := flag.Uint64("seed", 200000, "the first seed")
	only := flag.String("kind", "", "only the kinds whose names contain this")
	way := flag.String("way", "", "only search, constant or pairs")
	out := flag.String("out", "", "append the statements to this file")
	table := flag.String("table", "", "print the table of such a file")
	truths := flag.String("truths", "", "keep what long runs found in this file, for the next call")
	most := flag.Duration("most", 5*time.Minute, "begin no record after this time")
	flag.Parse()
	err := load(*truths)
	if err == nil {
		err = run(*n, *first, *only, *way, *out, *table, *most)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(n int, first uint64, only, way, out, table string, most time.Duration) (err error) {
	var all []said
	if table != "" {
		f, err := os.Open(table)
		if err != nil {
			return err
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var s said
			if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
				return err
			}
			all = append(all, s)
		}
		print(os.Stdout, all)
		return nil
	}
	if scratch, err = os.MkdirTemp("", "rates"); err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	debug.SetGCPercent(400) // it allocates much and keeps little
	began := time.Now()
	for seed := first; seed < first+uint64(n); seed++ {
		for _, w := range ways {
			for _, k := range kinds {
				if !strings.Contains(k.name, only) || !strings.Contains(w.name, way) || time.Since(began) > most {
					continue
				}
				said, err := w.of(k, seed)
				if err != nil {
					return fmt.Errorf("%s of %s, seed %d: %w", w.name, k.name, seed, err)
				}
				all = append(all, said...)
				if err := appendTo(out, said); err != nil {
					return err
				}
			}
		}
	}
	print(os.Stdout, all)
	return nil
}

// appendTo adds values to a file, one on each line; "": to none.
func appendTo[T any](name string, all []T) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, s := range all {
		if err := json.NewEncoder(f).Encode(s); err != nil {
			return err
		}
	}
	return f.Close()
}
