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
	o := options{round: Floor, min: 1}
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

// RoundQuotaFunc sets how a limit in CPUs becomes a whole number: [Floor] (which
// nil also means), [Ceil], [Round] or a function of your own. What it returns is
// then raised to the minimum and lowered to the CPUs that there are.
func RoundQuotaFunc(round func(cpus float64) int) Option {
	return func(o *options) {
		if round == nil {
			round = Floor
		}
		o.round = round
	}
}

// Floor rounds down: 1.5 CPUs give 1. The process cannot then be throttled by
// running Go code alone, and cannot use what is after the point.
func Floor(cpus float64) int { return whole(math.Floor(cpus)) }

// Ceil rounds up, as Go 1.25 does itself: 1.5 CPUs give 2. The process can use
// all of its limit, and is throttled when it uses all threads for long.
func Ceil(cpus float64) int { return whole(math.Ceil(cpus)) }

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

// Min sets the least that GOMAXPROCS is set to; 1 if not given. A value below 1
// is ignored. On a host of fewer CPUs it is the number of these.
func Min(n int) Option {
	return func(o *options) {
		if n >= 1 {
			o.min = n
		}
	}
}

// Logger has a sentence written about what Set did, about each change while
// following, and about the undo. Without it nothing is written.
func Logger(printf func(format string, args ...any)) Option {
	return func(o *options) { o.printf = printf }
}

// Follow has the limit looked at twice a second, and GOMAXPROCS changed when
// the limit has changed, such as by an in-place resize of a pod. It ends with
// ctx, which leaves GOMAXPROCS as it then is, and with the undo of Set.
//
// Between two looks there is no goroutine, only a timer. docs/maxprocs.md has
// what a look costs.
//
// A program that calls [runtime.GOMAXPROCS] itself after Set is left alone until
// the limit changes.
func Follow(ctx context.Context) Option {
	return func(o *options) {
		if ctx == nil {
			ctx = context.Background()
		}
		o.follow = ctx
	}
}

// OnChange has f called when a look while following finds GOMAXPROCS changed or
// changes it, for what was sized by GOMAXPROCS: a semaphore, a pool. After is the
// value that counts, whoever has set it. The calls come one after the other, from
// a goroutine of their own; no look is made before f has returned.
func OnChange(f func(Result)) Option {
	return func(o *options) { o.onChange = f }
}
