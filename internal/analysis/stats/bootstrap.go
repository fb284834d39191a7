package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/millicore/millicore/internal/data/signals"
)

// Blocks are the latencies of a cell in blocks of whole frames. Under a quota
// latencies are not independent: one stall delays every request in flight. Frames can
// be assumed to be independent, since each covers several periods of the quota. So
// whole frames are resampled, never single requests, and the interval of a quantile
// depends on the number of stalls, not on the number of requests. (The method is by
// Künsch, Annals of Statistics 17, 1989, pages 1217 to 1241; see also Davison and
// Hinkley, Bootstrap Methods and their Application, 1997, section 8.2.)
//
// A Blocks is not safe for concurrent use.
type Blocks struct {
	trials []*trialBlocks
}

// trialBlocks are one trial's blocks, ordered by time.
type trialBlocks struct {
	number int
	width  int // intervals per block
	blocks []block
}

// block holds the latencies of some intervals, sparsely: counts by value.
type block struct {
	interval int // the first one in it, divided by the width
	counts   []count
}

// count is how many latencies share a value, in microseconds.
type count struct{ value, n int64 }

// mostBlocks bounds the blocks of a trial. The blocks of a longer trial are joined in
// pairs: longer blocks are equally valid, and 128 are enough.
const mostBlocks = 256

// Add takes the latencies of one agent in one interval of a trial (a frame's Seq).
// Latencies of other agents in that interval join the same block. Intervals come in
// the order of time. Requests that ended in the drain belong to the last measured
// interval, so the caller passes that number.
func (b *Blocks) Add(trial, interval int, latency *signals.Histogram) {
	if latency.Count() == 0 {
		return
	}
	var counts []count
	for bar := range latency.Bars() {
		counts = append(counts, count{bar.To, bar.Count})
	}
	b.trial(trial).add(interval, counts)
}

func (b *Blocks) trial(number int) *trialBlocks {
	for _, t := range b.trials {
		if t.number == number {
			return t
		}
	}
	t := &trialBlocks{number: number, width: 1}
	b.trials = append(b.trials, t)
	return t
}

func (t *trialBlocks) add(interval int, counts []count) {
	interval /= t.width
	for i := len(t.blocks) - 1; i >= 0; i-- {
		if t.blocks[i].interval == interval {
			t.blocks[i].counts = joined(t.blocks[i].counts, counts)
			return
		}
	}
	t.blocks = append(t.blocks, block{interval, counts})
	if len(t.blocks) > mostBlocks {
		t.widen()
	}
}

// widen doubles the width of the blocks.
func (t *trialBlocks) widen() {
	narrow := t.blocks
	t.blocks, t.width = nil, 2*t.width
	for _, b := range narrow {
		if n := len(t.blocks); n > 0 && t.blocks[n-1].interval == b.interval/2 {
			t.blocks[n-1].counts = joined(t.blocks[n-1].counts, b.counts)
			continue
		}
		t.blocks = append(t.blocks, block{b.interval / 2, b.counts})
	}
}

// joined merges counts, both ascending by value.
func joined(a, b []count) []count {
	out := make([]count, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].value < b[0].value:
			out, a = append(out, a[0]), a[1:]
		case a[0].value > b[0].value:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, count{a[0].value, a[0].n + b[0].n})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Resampling configures the bootstrap.
type Resampling struct {
	Seed uint64
	// Trials draws trials before their blocks if there are several. The interval is
	// then valid for further trials, because a restarted service settles at another
	// level. Otherwise it is valid for these trials only.
	Trials bool
	Times  int // 0: 999, whose 25th lowest and highest enclose 95%
}

// fewBlocks is the fewest blocks for resampling. With fewer, its intervals are much
// too narrow.
const fewBlocks = 10

// Intervals returns the 95% percentile interval of each quantile, 0..1, of all
// latencies together, in milliseconds; nil with fewer than 10 blocks. The same seed
// gives the same intervals.
func (b *Blocks) Intervals(quantiles []float64, how Resampling) []*Interval {
	out := make([]*Interval, len(quantiles))
	d := b.dense()
	if len(d.blocks) < fewBlocks {
		return out
	}
	if how.Times == 0 {
		how.Times = 999
	}
	random := rand.New(rand.NewPCG(how.Seed, 0))
	drawn := make([][]float64, len(quantiles))
	for range how.Times {
		d.draw(random, how.Trials)
		for i, v := range d.quantiles(quantiles) {
			drawn[i] = append(drawn[i], v)
		}
	}
	for i := range quantiles {
		out[i] = percentileInterval(drawn[i])
	}
	return out
}

// Quantiles returns the quantiles of all latencies together, in milliseconds, as a
// signals.Histogram of them does.
func (b *Blocks) Quantiles(quantiles []float64) []float64 {
	d := b.dense()
	for i := range d.times {
		d.times[i] = 1
	}
	return d.quantiles(quantiles)
}

// percentileInterval encloses the middle 95% of the drawn values.
func percentileInterval(drawn []float64) *Interval {
	slices.Sort(drawn)
	k := max(1, int(math.Floor(float64(len(drawn)+1)*(1-Level)/2+1e-9)))
	return &Interval{Low: drawn[k-1], High: drawn[len(drawn)-k], Level: math.NaN()}
}

// Bursts is by how much the number of latencies above a value, in microseconds, varies more
// from block to block than that of independent ones, 1 or more. A burst may be longer than a
// block: blocks are joined to 2, 4 and so on, and the largest counts, as long as there are
// fewBlocks of them.
func (b *Blocks) Bursts(above int64) float64 {
	largest := 1.0
	for width := 1; ; width *= 2 {
		var slow []float64
		for _, t := range b.trials {
			for from := 0; from+width <= len(t.blocks); from += width {
				slow = append(slow, 0)
				for _, one := range t.blocks[from : from+width] {
					slow[len(slow)-1] += one.above(above)
				}
			}
		}
		if len(slow) < fewBlocks {
			return largest
		}
		largest = max(largest, Clustering(slow))
	}
}

func (b *block) above(value int64) (sum float64) {
	for _, c := range b.counts {
		if c.value > value {
			sum += float64(c.n)
		}
	}
	return sum
}

// dense is the blocks in a layout for drawing: values as their index among all values,
// and a sum that is reused.
type dense struct {
	values []int64   // ascending
	blocks [][]place // of all trials, one trial after another
	trials [][2]int  // the blocks of each trial: from, to
	times  []int64   // how often each block was drawn
	sum    []int64   // counts by place
}

type place struct {
	at int
	n  int64
}

func (b *Blocks) dense() *dense {
	d := &dense{}
	for _, t := range b.trials {
		for _, block := range t.blocks {
			for _, c := range block.counts {
				d.values = append(d.values, c.value)
			}
		}
	}
	slices.Sort(d.values)
	d.values = slices.Compact(d.values)
	for _, t := range b.trials {
		from := len(d.blocks)
		for _, block := range t.blocks {
			places := make([]place, len(block.counts))
			for i, c := range block.counts {
				at, _ := slices.BinarySearch(d.values, c.value)
				places[i] = place{at, c.n}
			}
			d.blocks = append(d.blocks, places)
		}
		d.trials = append(d.trials, [2]int{from, len(d.blocks)})
	}
	d.times, d.sum = make([]int64, len(d.blocks)), make([]int64, len(d.values))
	return d
}

// draw chooses blocks with replacement, from each trial as many as it has.
func (d *dense) draw(random *rand.Rand, trials bool) {
	clear(d.times)
	for i := range d.trials {
		if trials {
			i = random.IntN(len(d.trials))
		}
		from, to := d.trials[i][0], d.trials[i][1]
		for range to - from {
			d.times[from+random.IntN(to-from)]++
		}
	}
}

// quantiles returns those of the drawn blocks, in milliseconds, by HdrHistogram's
// rule: the rank is q x n rounded, at least 1. NaN without data.
func (d *dense) quantiles(quantiles []float64) []float64 {
	clear(d.sum)
	total := int64(0)
	for i, times := range d.times {
		if times == 0 {
			continue
		}
		for _, p := range d.blocks[i] {
			d.sum[p.at] += times * p.n
			total += times * p.n
		}
	}
	out := make([]float64, len(quantiles))
	at, below := 0, int64(0) // a value, and how many are lower
	for i, q := range quantiles {
		rank := min(total, max(1, int64(q*float64(total)+0.5)))
		if rank <= below { // the quantiles do not ascend
			at, below = 0, 0
		}
		for ; at < len(d.sum) && below+d.sum[at] < rank; at++ {
			below += d.sum[at]
		}
		if out[i] = math.NaN(); at < len(d.sum) && total > 0 {
			out[i] = float64(d.values[at]) / 1000
		}
	}
	return out
}
