package traffic

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/accesslog"
	"github.com/millicore/millicore/internal/data/captured"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/front/logs"
	"github.com/millicore/millicore/internal/front/reach"
)

// Replaying is the flags of a replay, and what they have.
type Replaying struct {
	File  string // access log; "": none
	Speed float64
	Seed  uint64 // of the load

	log  *accesslog.Log
	sent *Replay // after Experiment
}

// Replay is what of an access log is sent.
type Replay struct {
	File string `json:"file"`
	*accesslog.Replay
}

// Define defines the flags of a replay.
func (p *Replaying) Define(flags *pflag.FlagSet) {
	flags.StringVar(&p.File, "replay", "", "send the requests of this access log `FILE` at their recorded times, in order; those of one second, if the log has no finer times, at random within it, or evenly with --even")
	flags.Float64Var(&p.Speed, "speed", 1, "with --replay: 2 sends the recording in half of its time, 0.5 in twice as much")
	flags.Uint64Var(&p.Seed, "seed", 0, "seed of arrivals and random values (default: random)")
}

// contradiction reports flags that exclude a replay.
func (p *Replaying) contradiction(changed func(string) bool) error {
	switch {
	case !changed("replay") && changed("speed"):
		return errors.New("--speed needs --replay, the access log to replay")
	case !changed("replay"):
		return nil
	case p.File == "":
		return errors.New("--replay: want the name of an access log")
	case !(p.Speed > 0) || math.IsInf(p.Speed, 0): // NaN is not
		return fmt.Errorf("--speed %v: want a number above 0", p.Speed)
	}
	for _, other := range []string{"users", "rate", "duration", "requests", "stages", "open", "think", "warmup", "method", "body", "body-file", "grpc", "follow"} {
		if changed(other) {
			return fmt.Errorf("--replay has the requests and their times: leave out --%s", other)
		}
	}
	return nil
}

// read reads the log.
func (p *Replaying) read() error {
	if p.File == "" {
		return nil
	}
	in, done, err := logs.Open(p.File)
	if err != nil {
		return fmt.Errorf("--replay: %w", err)
	}
	defer done()
	if p.log, err = accesslog.ReadLog(in); err != nil {
		return fmt.Errorf("--replay %s: %w", p.File, err)
	}
	return nil
}

// replay sets the requests of the log and their mean rate, and returns how long they take.
func (o *Options) replay(s *file.Settings, t reach.Target, headers map[string]string) (time.Duration, error) {
	flag := "--replay " + o.Replaying.File
	if t.Path != "/" {
		return 0, fmt.Errorf("%s has a path, and so have the requests of %s: leave out the path", t.URL, flag)
	}
	sent := o.log.Replay(accesslog.How{Host: (&url.URL{Host: t.Host}).Hostname(), Speed: o.Speed, Even: o.Even, Seed: o.Seed, Kinds: experiment.MostKinds})
	o.sent = &Replay{o.Replaying.File, sent}
	s.Set("", "about", fmt.Sprintf("Replay of %d of the %d lines of %s on %s at speed %v", sent.Sent, sent.Lines, filepath.Base(o.Replaying.File), t.URL, o.Speed))
	if err := checkLength(flag, sent.Last.Sub(sent.First), o.Speed); err != nil {
		return 0, err
	}
	var mix []map[string]any
	for _, k := range sent.Kinds {
		one := o.eachOfMix()
		one["name"], one["method"], one["path"], one["weight"], one["headers"] = captured.Escape(k.Name), k.Method, captured.Escape(k.Path), k.Count, headers
		mix = append(mix, one)
	}
	length := sent.Length()
	s.Set(flag, "load.mix", mix)
	s.Set(flag, "load.rate", max(0.001, math.Round(float64(sent.Sent)/length.Seconds()*1000)/1000))
	return length, nil
}

// checkLength refuses a speed at which what was recorded takes longer than a load may.
func checkLength(flag string, recorded time.Duration, speed float64) error {
	const longest = 24*time.Hour - time.Millisecond // Length adds one
	if recorded.Hours()/speed <= longest.Hours() {
		return nil
	}
	enough := math.Ceil(100*recorded.Hours()/longest.Hours()) / 100
	return fmt.Errorf("%s: its %s take %s days at --speed %v, and a load takes at most one: use --speed %v or more",
		flag, about(recorded), digits.Three(recorded.Hours()/24/speed), speed, enough)
}

// Replayed is what of a log is sent; nil of another load.
func (o *Options) Replayed() *Replay { return o.sent }

// Report says what is sent, before a load.
func (r *Replay) Report(out io.Writer) {
	if r == nil {
		return
	}
	for _, row := range r.rows() {
		fmt.Fprintln(out, display.TerminalOf(out).Wrap(fmt.Sprintf("--replay: %s: %s.", row[0], row[1]), ""))
	}
}

// rows are what is sent, and what is not.
func (r *Replay) rows() [][2]string {
	const layout = "2006-01-02 15:04:05"
	recorded, zone := r.Last.Sub(r.First), "UTC"
	if r.ZoneUnknown {
		zone = "of an unknown zone"
	}
	rows := [][2]string{{"sent", fmt.Sprintf("%s of %s in %s, at speed %v; recorded in %s from %s %s on",
		display.Counted(int64(r.Sent), "request"), display.Plain(r.File), about(r.Length()), r.Speed, about(recorded), r.First.Format(layout), zone)}}
	var not []string
	for _, c := range r.Skipped {
		not = append(not, fmt.Sprintf("%s %s", grouped(c.Count), display.Plain(c.What)))
	}
	dropped := 0
	for _, c := range r.Dropped {
		dropped += c.Count
	}
	if dropped > 0 {
		not = append(not, fmt.Sprintf("%s to %s other than %s", grouped(dropped), phrase.Plural(len(r.Dropped), "host"), display.Plain(r.Host)))
	}
	if len(not) == 0 {
		not = []string{"nothing"}
	}
	rows = append(rows, [2]string{"not sent", strings.Join(not, ", ")})
	var how []string
	if r.Spread {
		how = append(how, "the log has whole seconds, within which the requests are spread "+map[bool]string{true: "evenly", false: "at random"}[r.Even])
	}
	if r.FromEnds > 0 {
		how = append(how, fmt.Sprintf("logged at their end, and sent at that time less their duration: %s", grouped(r.FromEnds)))
	}
	if r.Sorted > 0 {
		how = append(how, fmt.Sprintf("earlier than the line before, and sorted: %s", grouped(r.Sorted)))
	}
	if len(how) > 0 {
		rows = append(rows, [2]string{"times", strings.Join(how, "; ")})
	}
	if r.Failed > 0 {
		rows = append(rows, [2]string{"failed then", fmt.Sprintf("%s, with a status of 400 or above in the log", display.Counted(int64(r.Failed), "request"))})
	}
	return rows
}

func grouped(n int) string { return display.Grouped(int64(n)) }

// about is a time in whole milliseconds, or in seconds if it is long.
func about(d time.Duration) string {
	if d > time.Minute {
		return span.Text(d.Round(time.Second))
	}
	return span.Text(d.Round(time.Millisecond))
}

// replayed is the section of a replay; "" of another load.
func replayed(r *Result, out display.Terminal) string {
	if r.Replay == nil {
		return ""
	}
	rows := r.Replay.rows()
	if lag := r.Client.SendLag; lag.Count() > 0 {
		milliseconds := func(d time.Duration) string { return display.WithUnit(float64(d) / 1e6) }
		rows = append(rows, [2]string{"fell behind", fmt.Sprintf("by %s at p99, %s at most", milliseconds(lag.Quantile(0.99)), milliseconds(lag.Max()))})
	}
	return section("Replay", rows, out)
}
