package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/front/compare"
	"github.com/millicore/millicore/internal/show/report/text"
)

// compareForms are what --format takes.
var compareForms = []string{"table", "markdown", "csv", "benchstat"}

const compareLong = `Compares two records, or two cells of a record, and reports what differs in B from
A, by how much, and how certain that is.

A and B are folders of runs; A is the baseline, such as the previous release. One
cell of a record is written DIR#CELL, where CELL is its name in the report, its
whole label, or its index from 0. Records with several cells are compared cell by
cell, by their labels.

A line of the table has the median over trials of A and of B, the difference of B
from A (shift) with its 95% interval, p (the probability of a difference this large
or larger if A and B do not differ), n (the trials of A + B), and a verdict: better,
worse, or ~ for no significant difference. Of several cells it has the metric that
answers; --details has a table for each. A difference needs at least 4 trials of
each side, 6 are advised (measure.repeats). A search for a breaking point is one trial, and its
own interval holds for its start alone. The methods are Brunner and Munzel's test,
Hodges-Lehmann shifts and, over several cells, Holm's correction.

Records measured under different conditions are refused: another machine, kernel or platform;
another kind of load, request, timeout or objective. --anyway compares them
and lists the differences.

--fail-on BOUND makes compare exit with 99 if B differs from A by more than the
bound. The bound states what fails: 'p99>+10%' fails if p99 rises by more than 10%.
A bound is

  p99>+10%         a percentage of A, for any metric; > looks for a rise
  rate<-5%         and < for a fall
  p99>+20ms        milliseconds: latencies, cpu_per_request
  throttled>+5pp   percentage points: throttled, availability
  rate<-50         its own unit: rate, breaking_point
  p99{GET /a}>+10% of one kind of requests: p99, availability, cpu_per_request

The result is broken if the whole 95% interval is beyond the bound (and the
difference is significant), held if the whole interval is within it, and otherwise
undecided, with the reason: the interval includes the bound, there are too few
trials, or the metric was not measured. More repeats make an interval narrower.
Undecided fails only with --strict. A failed request counts as infinitely late: a
p99 is infinite if more than 1% of the requests failed.

`

// compareHelp ends with the metrics.
func compareHelp() string {
	return compareLong + display.Terminal{Width: 80}.Wrap("Metrics: "+compare.MetricNames()+".", "")
}

func compareCommand() *cobra.Command {
	var (
		form, junitFile                 string
		asJSON, anyway, strict, details bool
		failOn                          []string
		from                            recordFlags
	)
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two records, or two cells of one, and report how certain the difference is",
		Long:  compareHelp(),
		Example: "  millicore compare runs/before runs/after --fail-on 'p99>+10%'\n" +
			"  millicore compare 'runs/procs#procs=1' 'runs/procs#procs=2'\n" +
			"  millicore compare runs/procs#0 runs/procs#1 --format markdown\n" +
			"  millicore compare runs/before --format benchstat > before.txt",
		ValidArgsFunction: completeRecords(2),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && form == "benchstat" {
				return nil
			}
			return exactly(2, "two records, or two cells as DIR#CELL")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case asJSON && cmd.Flags().Changed("format"):
				return usageError{errors.New("--json and --format exclude each other; keep one")}
			case !slices.Contains(compareForms, form):
				return usageError{fmt.Errorf("--format %s: want one of %s; JSON is --json", form, strings.Join(compareForms, ", "))}
			case junitFile != "" && len(failOn) == 0:
				return usageError{errors.New("--junit writes a test case for each bound; give one with --fail-on, as in 'p99>+10%'")}
			case strict && len(failOn) == 0:
				return usageError{errors.New("--strict is about bounds; give one with --fail-on, as in 'p99>+10%'")}
			case len(args) == 1 && len(failOn) > 0:
				return usageError{errors.New("--fail-on wants two records to compare")}
			}
			bounds, err := parseBounds(failOn)
			if err != nil {
				return usageError{err}
			}
			if len(args) == 1 {
				return printBenchmarks(cmd.OutOrStdout(), from.reader(cmd), args[0])
			}
			if asJSON {
				form = "json"
			}
			matches, onlyA, onlyB, err := compareMatches(from.reader(cmd), args)
			if err != nil {
				return compareUsage(err)
			}
			result, err := compare.Compare(matches, anyway, bounds...)
			if err != nil {
				return compareUsage(err)
			}
			result.OnlyInA, result.OnlyInB = append(result.OnlyInA, onlyA...), append(result.OnlyInB, onlyB...)
			return comparePrinted(cmd, result, matches, form, bounds, strict, details, junitFile)
		},
	}
	f := c.Flags()
	f.StringVar(&form, "format", "table", "table, markdown, csv, or benchstat (Go benchmark lines, a trial each; also of one record alone)")
	f.BoolVar(&asJSON, "json", false, "print the comparison as JSON")
	f.BoolVar(&anyway, "anyway", false, "compare records measured under different conditions; the differences are listed")
	f.StringArrayVar(&failOn, "fail-on", nil, "exit with 99 if B differs from A by more than this, as in 'p99>+10%' (repeatable)")
	f.StringVar(&junitFile, "junit", "", "write JUnit XML to `FILE`: each bound of --fail-on is a test case")
	f.BoolVar(&strict, "strict", false, "with --fail-on: fail also if a bound is undecided")
	defineDetails(c, &details)
	from.define(c)
	return c
}

func parseBounds(texts []string) ([]compare.Bound, error) {
	var bounds []compare.Bound
	for _, text := range texts {
		b, err := compare.ParseBound(text)
		if err != nil {
			return nil, err
		}
		bounds = append(bounds, b)
	}
	return bounds, nil
}

// comparePrinted prints a comparison, and ends with errMissed where a bound is broken.
func comparePrinted(cmd *cobra.Command, result *compare.Result, matches []compare.Match, form string, bounds []compare.Bound, strict, details bool, junitFile string) error {
	var err error
	failed := result.Judge(bounds, strict)
	out := cmd.OutOrStdout()
	switch form {
	case "json":
		err = compare.JSON(out, result)
	case "markdown":
		err = text.Markdown(out, result.Blocks(true))
	case "csv":
		err = compare.CSV(out, result)
	case "benchstat":
		err = compare.BenchmarkMatches(out, matches)
	default:
		err = text.Terminal(out, result.Blocks(details), display.TerminalOf(out))
	}
	if err != nil {
		return err
	}
	if form == "csv" || form == "benchstat" { // these have no place for it
		err = compare.Judgments(cmd.ErrOrStderr(), result)
	}
	if junitFile != "" && err == nil {
		err = writeWhole(junitFile, func(w io.Writer) error { return compare.JUnit(w, result, matches, strict) })
	}
	if err == nil && failed {
		err = errMissed
	}
	return err
}

func compareMatches(with record.Reader, args []string) (matches []compare.Match, onlyA, onlyB []string, err error) {
	a, err := compare.Open(with, args[0])
	if err != nil {
		return nil, nil, nil, err
	}
	b, err := compare.Open(with, args[1])
	if err != nil {
		return nil, nil, nil, err
	}
	return compare.Pairs(a, b)
}

func printBenchmarks(out io.Writer, with record.Reader, argument string) error {
	selection, err := compare.Open(with, argument)
	if err != nil {
		return compareUsage(err)
	}
	return compare.Benchmarks(out, selection)
}

// compareUsage makes a usage error of what was wrong with the request.
func compareUsage(err error) error {
	var words *compare.WordsError
	var refused *compare.RefusedError
	if errors.As(err, &words) || errors.As(err, &refused) {
		return usageError{err}
	}
	return err
}
