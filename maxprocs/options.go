package maxprocs

import (
	"context"
	"math"
)

// Option changes what Set does.
type Option func(*options)

type options struct {
	round    func(cpus float64) int
	min      int
	printf   func(format string, args ...any)
	follow   context.Context // nil: not followed
	onChange func(Result)
}

func optionsOf(opts []Option) options {
	o := options{round: Ceil, min: 1}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

func (o options) log(r Result) {
	if o.printf != nil {
		o.printf("%s", r)
	}
}

// RoundQuotaFunc sets how a limit in CPUs is rounded: [Ceil] (the default, also for
// nil), [Floor], [Round] or another function. The result is then raised to the minimum
// and lowered to the number of CPUs.
func RoundQuotaFunc(round func(cpus float64) int) Option {
	return func(o *options) {
		if round == nil {
			round = Ceil
		}
		o.round = round
	}
}

// Ceil rounds up, as Go 1.25 does: 1.5 CPUs give 2, and 0.5 give 1. The process can use
// all of its limit, and is throttled if it keeps all threads busy.
func Ceil(cpus float64) int { return whole(math.Ceil(cpus)) }

// Floor rounds down, as automaxprocs does: 1.5 CPUs give 1. Under a limit of 1 CPU or
// more, Go code then cannot cause throttling, but the process cannot use the fraction:
// a third of 1.5 CPUs.
func Floor(cpus float64) int { return whole(math.Floor(cpus)) }

// Round rounds to the nearest, a half up: 1.4 CPUs give 1, 1.5 give 2.
func Round(cpus float64) int { return whole(math.Floor(cpus + 0.5)) }

// whole is the int of a number without a fraction, of any size.
func whole(f float64) int {
	const most = 1 << 30
	switch {
	case f >= most:
		return most
	case f >= 1:
		return int(f)
	}
	return 0 // also what is no number
}

// Min sets the minimum of GOMAXPROCS; the default is 1. A value below 1 is ignored. On a
// host with fewer CPUs the minimum is their number.
func Min(n int) Option {
	return func(o *options) {
		if n >= 1 {
			o.min = n
		}
	}
}

// Logger sets a function that logs the result of Set, each change while following, and
// the undo. Without it nothing is logged.
func Logger(printf func(format string, args ...any)) Option {
	return func(o *options) { o.printf = printf }
}

// Follow checks the limit twice a second, and changes GOMAXPROCS when the limit has
// changed, for example by an in-place resize of a pod. It ends when ctx ends, without a
// further change of GOMAXPROCS, or with the undo of Set.
//
// Between two checks there is no goroutine, only a timer. docs/performance.md has the cost
// of a check.
//
// If the program calls [runtime.GOMAXPROCS] after Set, its value stays until the limit
// changes.
func Follow(ctx context.Context) Option {
	return func(o *options) {
		if ctx == nil {
			ctx = context.Background()
		}
		o.follow = ctx
	}
}

// OnChange calls f when a check while following changes GOMAXPROCS, or finds it changed,
// so that the program can resize what depends on it, such as a semaphore or a pool.
// After is the present value, whoever set it. The calls are sequential, on a separate
// goroutine; the next check waits for f to return.
func OnChange(f func(Result)) Option {
	return func(o *options) { o.onChange = f }
}
