// Command rates draws random services whose truth is known, analyses simulated records of
// them as millicore does, and counts how often each statement of the summary is false. It
// prints the table of docs/statistics.md:
//
//	go run ./test/rates -n 40 -seed 520000
//
// With -out it appends the statements of each record to a file, and begins no record that the
// file has, so that several short runs give one table (-table FILES). No rule was tuned on
// the seeds from 520,000.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	first := flag.Uint64("seed", 520000, "the first seed")
	only := flag.String("kind", "", "only the kinds whose names contain this")
	way := flag.String("way", "", "only search, constant or pairs")
	out := flag.String("out", "", "append the statements to this file")
	table := flag.String("table", "", "print the table of such files, a pattern")
	truths := flag.String("truths", "", "keep what long runs found in this file, for the next call")
	flag.BoolVar(&verbose, "v", false, "keep the texts of true statements as well")
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
		names, err := filepath.Glob(table)
		for _, name := range names {
			more, readErr := readSaid(name)
			all, err = append(all, more...), errors.Join(err, readErr)
		}
		print(os.Stdout, all)
		return err
	}
	done := map[said]bool{}
	before, err := readSaid(out)
	for _, s := range before {
		done[s] = true
	}
	if err != nil {
		return err
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
				last := said{What: whole + w.name, Kind: k.name, Seed: seed}
				if !strings.Contains(k.name, only) || !strings.Contains(w.name, way) || time.Since(began) > most || done[last] {
					continue
				}
				statements, err := w.of(k, seed)
				if err != nil {
					return fmt.Errorf("%s of %s, seed %d: %w", w.name, k.name, seed, err)
				}
				statements = append(statements, last)
				all = append(all, statements...)
				if err := appendTo(out, statements); err != nil {
					return err
				}
			}
		}
	}
	print(os.Stdout, all)
	return nil
}

// whole begins the line of a record whose statements are all in a file.
const whole = "record: "

// readSaid reads the statements of a file; none if there is no such file.
func readSaid(name string) (all []said, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var s said
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
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
