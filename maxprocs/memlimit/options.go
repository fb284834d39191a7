package memlimit

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
)

// Option changes what Set does.
type Option func(*options)

type options struct {
	headroom float64
	follow   context.Context // nil: not followed
	printf   func(format string, args ...any)
	slog     *slog.Logger
	bad      error // why the environment's headroom was ignored
}

func optionsOf(opts []Option) options {
	o := options{headroom: 0.1}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if text, ok := os.LookupEnv(HeadroomVariable); ok {
		share, err := strconv.ParseFloat(text, 64)
		if err != nil || !(share >= 0 && share < 1) {
			o.bad = fmt.Errorf("memlimit: %s=%q is ignored, and %g used: it is a share from 0 to below 1, such as 0.25", HeadroomVariable, text, o.headroom)
			return o
		}
		o.headroom = share
	}
	return o
}

// HeadroomVariable is the environment variable that has the headroom, such as 0.25. It
// overrides [Headroom]. A value that Headroom would ignore is logged as a warning, and
// ignored.
const HeadroomVariable = "MEMLIMIT_HEADROOM"

// Headroom sets the share of the container's limit that is left for memory that Go's
// runtime does not manage; the default is 0.1. A value below 0, or of 1 and more, is
// ignored.
func Headroom(share float64) Option {
	return func(o *options) {
		if share >= 0 && share < 1 {
			o.headroom = share
		}
	}
}

// Follow checks the limit twice a second, and changes Go's memory limit when it has
// changed, for example by an in-place resize of a pod. It ends when ctx ends, without a
// further change, or with the undo of Set, or when the program itself sets a memory limit.
//
// A check reads the open file of the limit, one for each visible group. Every 10 s the
// group is located again. Between two checks there is no goroutine, only a timer.
func Follow(ctx context.Context) Option {
	return func(o *options) {
		if ctx == nil {
			ctx = context.Background()
		}
		o.follow = ctx
	}
}

// Logger sets a function that logs the result of Set, each change while following, and
// the undo. Without it nothing is logged.
func Logger(printf func(format string, args ...any)) Option {
	return func(o *options) { o.printf = printf }
}

// Slog sets a structured logger for the same events. The message is "memlimit"; the
// attributes are before, gomemlimit (bytes; None without a limit), why, limit_bytes,
// limit_by and error. The level is Warn if a limit could not be read, and else Info.
func Slog(l *slog.Logger) Option {
	return func(o *options) { o.slog = l }
}

func (o options) log(r Result) {
	if o.printf != nil {
		o.printf("%s", r)
	}
	if o.slog == nil {
		return
	}
	attrs := []slog.Attr{slog.Int64("before", r.Before), slog.Int64("gomemlimit", r.After), slog.String("why", r.Why.String())}
	if r.Limit.Bytes > 0 {
		attrs = append(attrs, slog.Int64("limit_bytes", r.Limit.Bytes), slog.String("limit_by", r.Limit.Dir))
	}
	level := slog.LevelInfo
	if r.Limit.Err != nil {
		level = slog.LevelWarn
		attrs = append(attrs, slog.Any("error", r.Limit.Err))
	}
	o.slog.LogAttrs(context.Background(), level, "memlimit", attrs...)
}

// logBad warns of a headroom in the environment that was ignored.
func (o options) logBad() {
	if o.bad != nil && o.printf != nil {
		o.printf("%v", o.bad)
	}
	if o.bad != nil && o.slog != nil {
		o.slog.LogAttrs(context.Background(), slog.LevelWarn, "memlimit", slog.Any("error", o.bad))
	}
}

func (o options) logUndo(before, after int64) {
	if o.printf != nil {
		o.printf("memlimit: undone, %s", change(before, after))
	}
	if o.slog != nil {
		o.slog.LogAttrs(context.Background(), slog.LevelInfo, "memlimit undone", slog.Int64("before", before), slog.Int64("gomemlimit", after))
	}
}
