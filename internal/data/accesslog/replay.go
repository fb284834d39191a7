package accesslog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/recording"
)

// Log is the requests of a log that can be sent again at their times.
type Log struct {
	Lines   int     // that are not empty
	Skipped []Count // lines and requests, by reason, most first

	entries  []logged // in the order of the log
	requests []Entry  // different ones, with their method, path and host only
	local    bool     // a time has no zone
}

// logged is an entry of a log.
type logged struct {
	at, took time.Duration // at: since 1970
	request  uint32        // index
	failed   bool
}

// The reasons for which requests are not replayed, beyond those of lines.
const (
	reasonTime    = "without a time"
	reasonUpgrade = "answered with status 101 (another protocol)"
)

// whyBody is the reason for which a request of a method is not sent; "": it is.
func whyBody(method string) string {
	if method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions {
		return ""
	}
	return method + ", whose body is not in the log"
}

// ReadLog reads a log for a replay. The error is that of reading it, or of one that is too large
// or has no such request.
func ReadLog(r io.Reader) (*Log, error) {
	return readLog(r, bounds{recording.MostEntries, recording.MostRequests, recording.MostBytes})
}

// bounds are those of a recording.
type bounds struct{ entries, requests, bytes int }

func readLog(r io.Reader, within bounds) (*Log, error) {
	l := &Log{}
	index, left := map[string]uint32{}, within.bytes
	reasons := map[string]int{}
	var key []byte
	lines, skipped, err := Read(r, func(e Entry) {
		why := whyBody(e.Method)
		switch {
		case why != "":
		case e.Time.IsZero():
			why = reasonTime
		case e.Status == http.StatusSwitchingProtocols:
			why = reasonUpgrade
		case strings.ContainsFunc(e.Path, func(c rune) bool { return c <= ' ' || c == 0x7f }):
			why = reasonRequest
		}
		if why != "" {
			reasons[why]++
			return
		}
		e.Host = strings.ToLower(e.Host)
		key = fmt.Appendf(key[:0], "%s %s %s", e.Method, e.Host, e.Path)
		i, known := index[string(key)]
		if !known && left >= 0 && len(index) <= within.requests {
			i = uint32(len(l.requests))
			index[string(key)] = i
			l.requests = append(l.requests, Entry{Method: e.Method, Path: e.Path, Host: e.Host})
			left -= len(e.Path)
		}
		l.local = l.local || e.Time.Location() == zoneless
		if len(l.entries) <= within.entries {
			l.entries = append(l.entries, logged{time.Duration(e.Time.UnixNano()), e.Took, i, e.Status >= 400})
		}
	})
	if err != nil {
		return nil, err
	}
	maps.Copy(reasons, skipped)
	l.Lines, l.Skipped = lines, most(reasons)
	switch {
	case lines == 0:
		return nil, errors.New("it is empty")
	case len(l.entries) == 0:
		return nil, fmt.Errorf("no request can be replayed: %s", leftOut(lines, l.Skipped))
	case len(l.entries) > within.entries:
		return nil, fmt.Errorf("it has more than %d requests; replay a part of it", within.entries)
	case len(index) > within.requests:
		return nil, fmt.Errorf("it has more than %d different paths; replay a part of it", within.requests)
	case left < 0:
		return nil, fmt.Errorf("its different paths have more than %d bytes together; replay a part of it", within.bytes)
	}
	return l, nil
}

// Replay is what is sent of a log, and what is not.
type Replay struct {
	Recording recording.Recording `json:"-"`
	Kinds     []Kind              `json:"-"` // of its requests

	Lines   int       `json:"lines"` // of the log that are not empty
	Sent    int       `json:"sent"`  // entries
	Skipped []Count   `json:"skipped"`
	Host    string    `json:"host,omitempty"`    // of the entries that are sent; "": the log has none
	Dropped []Count   `json:"dropped,omitempty"` // entries of other hosts
	First   time.Time `json:"first"`             // of the entries that are sent
	Last    time.Time `json:"last"`
	// ZoneUnknown: a time of the log has no zone, and is read as UTC.
	ZoneUnknown bool    `json:"zone_unknown,omitempty"`
	Speed       float64 `json:"speed"`
	Spread      bool    `json:"spread"`    // the log has whole seconds, in which the entries were spread
	Even        bool    `json:"even"`      // evenly, not at random
	Sorted      int     `json:"sorted"`    // entries of an earlier time than the line before them
	FromEnds    int     `json:"from_ends"` // entries whose begin is the time of their end less their duration
	Failed      int     `json:"failed"`    // entries that the log has a status of 400 or above of
}

// Kind is requests that are counted together.
type Kind struct {
	Name   string // "GET /users/{id}", or others
	Method string
	Path   string // of the route
	Count  int    // entries
}

// others are the requests beyond the most frequent routes.
const others = "other requests"

// How says how entries are replayed.
type How struct {
	Host  string  // of the target, without its port
	Speed float64 // 2: in half of the time
	Even  bool    // spread those of a second evenly, not at random
	Seed  uint64
	Kinds int // names of kinds at most
}

// Replay returns what is sent to a host: the entries of its name or, if the log has none, those
// of the host with most entries; and those without a host. They are in the order of the times at
// which the requests began. If the log has whole seconds, the requests of a second are spread
// over it first.
func (l *Log) Replay(how How) *Replay {
	p := &Replay{Lines: l.Lines, Skipped: l.Skipped, ZoneUnknown: l.local, Speed: how.Speed, Even: how.Even}
	kept := l.keep(p, how.Host)
	p.Sent = len(kept)
	last := time.Duration(0)
	for i, e := range kept {
		if i > 0 && e.at < last {
			p.Sorted++
		}
		last = e.at
		if e.took > 0 {
			p.FromEnds++
		}
		if e.failed {
			p.Failed++
		}
	}
	byTime := func(a, b logged) int { return cmp.Compare(a.at, b.at) }
	slices.SortStableFunc(kept, byTime)
	if p.Spread = !slices.ContainsFunc(kept, func(e logged) bool { return e.at%time.Second != 0 }); p.Spread {
		spread(kept, how)
	}
	for i := range kept {
		kept[i].at -= kept[i].took
	}
	slices.SortStableFunc(kept, byTime)
	p.First, p.Last = time.Unix(0, int64(kept[0].at)).UTC(), time.Unix(0, int64(kept[len(kept)-1].at)).UTC()
	l.record(p, kept, how)
	return p
}

// Length is the time that the replay takes, in whole milliseconds: from the first request to
// after the last, but no less than a load has figures for.
func (p *Replay) Length() time.Duration {
	const shortest = time.Second
	last := p.Recording.At[len(p.Recording.At)-1]
	return max(shortest, last.Truncate(time.Millisecond)+time.Millisecond)
}

// keep returns the entries of a host, in the order of the log.
func (l *Log) keep(p *Replay, host string) []logged {
	hosts := map[string]int{}
	for _, e := range l.entries {
		hosts[l.requests[e.request].Host]++
	}
	none := hosts[""]
	delete(hosts, "")
	p.Dropped = most(hosts)
	if len(hosts) > 0 {
		if p.Host = strings.ToLower(host); hosts[p.Host] == 0 {
			p.Host = p.Dropped[0].What
		}
		p.Dropped = slices.DeleteFunc(p.Dropped, func(c Count) bool { return c.What == p.Host })
	}
	kept := make([]logged, 0, none+hosts[p.Host])
	for _, e := range l.entries {
		if h := l.requests[e.request].Host; h == "" || h == p.Host {
			kept = append(kept, e)
		}
	}
	return kept
}

// spread gives the entries of each second times within it: at random, as arrivals are that do not
// depend on each other, or evenly, entry k of n at k-½ n-ths. Their order remains.
func spread(all []logged, how How) {
	random := rand.New(rand.NewPCG(how.Seed, 0x7265706c6179))
	var times []float64
	for from, to := 0, 0; from < len(all); from = to {
		for to = from; to < len(all) && all[to].at == all[from].at; to++ {
		}
		times = times[:0]
		for i := range to - from {
			if how.Even {
				times = append(times, (float64(i)+0.5)/float64(to-from))
			} else {
				times = append(times, random.Float64())
			}
		}
		slices.Sort(times)
		for i, part := range times {
			all[from+i].at += time.Duration(part * float64(time.Second))
		}
	}
}

// record makes the recording of entries in order, and the kinds of their requests.
func (l *Log) record(p *Replay, all []logged, how How) {
	counts := make([]int, len(l.requests))
	for _, e := range all {
		counts[e.request]++
	}
	routes := map[string]int{}
	for i, n := range counts {
		if n > 0 {
			routes[l.requests[i].Route()] += n
		}
	}
	named := most(routes)
	if len(named) > how.Kinds {
		named = named[:how.Kinds-1]
	}
	kinds, own := map[string]int{}, make([]uint32, len(l.requests)) // own: indexes in the recording
	frequent := map[string]bool{}
	for _, r := range named {
		frequent[r.What] = true
	}
	r := &p.Recording
	for i, n := range counts {
		if n == 0 {
			continue
		}
		q := &l.requests[i]
		kind := Kind{Name: q.Route(), Method: q.Method}
		if _, kind.Path = methodOf(kind.Name); !frequent[kind.Name] {
			kind.Name, kind.Path = others, "/"
		}
		at, known := kinds[kind.Method+" "+kind.Name]
		if !known {
			at = len(p.Kinds)
			kinds[kind.Method+" "+kind.Name] = at
			p.Kinds = append(p.Kinds, kind)
		}
		p.Kinds[at].Count += n
		own[i] = uint32(len(r.Requests))
		r.Requests = append(r.Requests, recording.Request{Kind: at, Path: q.Path})
	}
	r.At, r.Of = make([]time.Duration, 0, len(all)), make([]uint32, 0, len(all))
	for _, e := range all {
		r.Add(time.Duration(float64(e.at-all[0].at)/how.Speed), own[e.request])
	}
}
