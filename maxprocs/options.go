package maxprocs

import (
	"context"
	"log/slog"
	"math"
)

// Option changes what Set does.
type Option func(*options)

type options struct {
	round    func(cpus float64) int
	min      int  // 0: not given
	override bool // also where Go's default sees the limit
	request  bool // without a limit, the CPU request counts
	slog     *slog.Logger
	printf   func(format string, args ...any)
	follow   context.Context // nil: not followed
	onChange func(Result)
}

func optionsOf(opts []Option) options {
	o := options{round: Ceil}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.min == 0 {
		o.min = leastByDefault
		if o.override {
			o.min = 1
		}
	}
	return o
}

// leastByDefault is the minimum of Go's own default, too. Under a limit of 1 CPU or less,
// one thread instead of two lowers p99 at saturation and raises it at ordinary load
// (docs/gomaxprocs.md), so a program has to choose that.
const leastByDefault = 2

func (o options) log(r Result) {
	if o.printf != nil {
		o.printf("%s", r)
	}
	if o.slog == nil {
		return
	}
	attrs := []slog.Attr{
		slog.Int("before", r.Before), slog.Int("gomaxprocs", r.After), slog.String("why", r.Why.String()),
		slog.String("limit_state", r.Limit.State.String()),
	}
	if r.Limit.State == Limited {
		attrs = append(attrs, slog.Float64("limit_cpus", r.Limit.CPUs), slog.String("limit_by", r.Limit.Dir))
	}
	if r.Request > 0 {
		attrs = append(attrs, slog.Float64("request_cpus", r.Request))
	}
	level := slog.LevelInfo
	if r.Limit.Err != nil {
		level = slog.LevelWarn
		attrs = append(attrs, slog.Any("error", r.Limit.Err))
	}
	o.slog.LogAttrs(context.Background(), level, "maxprocs", attrs...)
}

func (o options) logUndo(before, after int) {
	if o.printf != nil {
		o.printf("maxprocs: undone, %s", change(before, after))
	}
	if o.slog != nil {
		o.slog.LogAttrs(context.Background(), slog.LevelInfo, "maxprocs undone", slog.Int("before", before), slog.Int("gomaxprocs", after))
	}
}

// OverrideDefault makes the minimum 1 and not 2, so that a limit of 1 CPU or less gives 1,
// also where Go's own default sees the limit (from Go 1.25 on). Measure before you use it:
// up to saturation, 2 often has the lower p99.
func OverrideDefault() Option { return func(o *options) { o.override = true } }

// RoundQuotaFunc sets how a limit in CPUs is rounded: [Ceil] (the default, also for
// nil), [Floor], [Round] or another function. The result is then raised to the minimum
// and lowered to the number of CPUs. It implies [OverrideDefault]: the minimum is 1.
func RoundQuotaFunc(round func(cpus float64) int) Option {
	return func(o *options) {
		if round == nil {
			round = Ceil
		}
		o.round, o.override = round, true
	}
}

// Ceil rounds up, as Go 1.25 does: 1.5 CPUs give 2, and 0.5 give 1 (Set's minimum is 2).
// The process can use all of its limit, and is throttled if it keeps all threads busy.
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

// Min sets the minimum of GOMAXPROCS; without any option it is 2, as Go's own. A value below
// 1 is ignored. On a host with fewer CPUs the minimum is their number. It implies
// [OverrideDefault].
func Min(n int) Option {
	return func(o *options) {
		if n >= 1 {
			o.min, o.override = n, true
		}
	}
}

// FromRequest makes Set choose GOMAXPROCS from the CPU request of Kubernetes where there is
// no limit: rounded up to whole CPUs, at least the minimum, at most all CPUs. What is idle
// on the node beyond that is then left unused. The request is followed, within 10 s.
//
// The request is read from the weight of the process's own group. On cgroup v1 that is
// exact. On v2 a weight can stand for two requests, because runc 1.4 and crun 1.23 have
// changed the conversion: 100 for 2.5 CPUs before, and for 1 CPU since. The higher one is
// used, so that no requested CPU is left out: too many threads rather than too few with a
// newer runtime. GOMAXPROCS in the environment with a resourceFieldRef of requests.cpu is
// exact, and wins.
//
// The kernel's default weight, 1,024 on v1 and 100 on v2, counts as a request only in a pod
// (if KUBERNETES_SERVICE_HOST is set).
func FromRequest() Option { return func(o *options) { o.request = true } }

// Logger sets a function that logs the result of Set, each change while following, and
// the undo. Without it nothing is logged.
func Logger(printf func(format string, args ...any)) Option {
	return func(o *options) { o.printf = printf }
}

// Slog sets a structured logger for the same events as [Logger]. The message is "maxprocs";
// the attributes are before, gomaxprocs, why, limit_state, limit_cpus, limit_by,
// request_cpus and error. The level is Warn if a limit could not be read, and else Info.
func Slog(l *slog.Logger) Option {
	return func(o *options) { o.slog = l }
}

// Follow checks the limit twice a second, and changes GOMAXPROCS when the limit has
// changed, for example by an in-place resize of a pod. It ends when ctx ends, without a
// further change of GOMAXPROCS, or with the undo of Set.
//
// A check reads the open file of the limit: one file for each visible group, two on
// cgroup v1. Every 10 s the group is located again, because the process may have been
// moved. Between two checks there is no goroutine, only a timer.
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
