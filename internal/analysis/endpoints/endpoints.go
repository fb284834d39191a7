// Package endpoints estimates the CPU time of a request of each kind. No counter of the kernel has
// it: the service's CPU time is that of all its requests together. But the mix of kinds varies from
// one interval to the next, by chance or on purpose, and the CPU time varies with it.
//
// It is least squares without an intercept: what the service does beside its requests counts as
// theirs, as it does in the CPU time per request of a load of one kind. An intercept would not be
// that work alone: of requests that end in another interval than their CPU time was used, it takes
// a part. The interval of a cost has both: that with this work, and that without it.
//
// Of a request that is in flight at a boundary, an unknown part of its CPU time falls before it:
// little if requests wait in a queue, half if they share the CPUs. The intervals show it: a second
// coefficient of each kind is for the change of its requests in flight. Without it the counts have
// an error that makes dear kinds too cheap and cheap ones too dear. The package is pure.
package endpoints

import (
	"math"
	"slices"
)

// Interval is what a service did in a part of a trial.
type Interval struct {
	CPU   float64   // s
	Ended []float64 // requests that ended, by kind
	Grown []float64 // requests that were sent less those that ended, by kind
}

// Cost is the CPU time of a request of a kind in s, the ends of its 95% interval, and the share that
// the requests of the kind have of the CPU time of the intervals, 0..1.
type Cost struct {
	Each, Low, High, Share float64
	Varied                 bool // by Varied
}

const (
	// Enough is how many intervals for each kind show a cost with its error, and Few how many show
	// it without, where others of other trials are beside it.
	Enough, Few = 10, 4
	// fewest is how many intervals of a varied mix are needed for each coefficient.
	fewest = 3
	// flat is the share of its length that must remain of a column of the counts once what the
	// columns before explain is taken away: below it the mix does not vary.
	flat = 1e-6
	// unsure is the share of all CPU time by which that of a kind may be off, at 95%: of the steps
	// of a session, which come in almost the same proportion, it is more than all of it.
	unsure = 0.5
	// near is how many successive intervals have their own mean taken away.
	near = 4
	z    = 1.96 // standard errors of an interval of 95%
)

// Costs are the costs of the kinds, in their order; nil: there are fewer intervals for each kind than
// needed, or some kind comes in the same, or almost the same, proportion to others.
func Costs(all []Interval, need int) []Cost {
	if len(all) == 0 {
		return nil
	}
	kinds := len(all[0].Ended)
	if len(all) < need*kinds {
		return nil
	}
	cpu, totals, changed := 0.0, make([]float64, kinds), make([]int, kinds)
	for _, one := range all {
		cpu += one.CPU
		for k := range kinds {
			totals[k] += one.Ended[k]
			if one.Grown[k] != 0 {
				changed[k]++
			}
		}
	}
	rows := make([][]float64, len(all))
	for i, one := range all {
		rows[i] = slices.Clone(one.Ended)
		for k, grown := range one.Grown {
			if changed[k] >= Few {
				rows[i] = append(rows[i], grown)
			}
		}
	}
	used := make([]float64, len(all))
	for i := range all {
		used[i] = all[i].CPU
	}
	whole := fit(rows, used, 0)
	if whole == nil { // the changes cannot be distinguished from the requests that ended
		for i := range rows {
			rows[i] = all[i].Ended
		}
		whole = fit(rows, used, 0)
	}
	if whole == nil || cpu <= 0 {
		return nil
	}
	level, beside := fit(levelled(rows, used, 1)), fit(levelled(rows, used, 0))
	// A steady CPU time beside the requests is divided among the kinds like this, and is no more
	// than what some kind has.
	steady := fit(rows, slices.Repeat([]float64{1}, len(rows)), 0)
	most := math.Inf(1)
	for k, w := range whole[:kinds] {
		if _, high := w.interval(); steady[k].each > 0 {
			most = min(most, max(0, high)/steady[k].each)
		}
	}
	costs := make([]Cost, kinds)
	for k := range costs {
		w := whole[k]
		if level == nil || z*totals[k]*w.off/cpu > unsure {
			return nil
		}
		low, high := w.interval()
		levelLow, levelHigh := level[k].interval()
		alone := low - most*max(0, steady[k].each)
		if beside != nil {
			least, _ := beside[k].interval()
			alone = max(alone, least)
		}
		costs[k] = Cost{Each: w.each, Low: min(low, levelLow, alone), High: max(high, levelHigh), Share: totals[k] * w.each / cpu}
	}
	return costs
}

// Varied are the costs by intervals in which kinds, and all of them, were left out in turn. These
// show what the service does beside its requests, which is no part of the costs then. The shares are
// of the whole mix with that. nil: there are too few, or some kind was never left out.
func Varied(all []Interval) []Cost {
	if len(all) == 0 {
		return nil
	}
	kinds := len(all[0].Ended)
	rows, used := make([][]float64, len(all)), make([]float64, len(all))
	for i, one := range all {
		used[i], rows[i] = one.CPU, append(slices.Clone(one.Ended), 1)
	}
	columns := kinds + 1
	sent, left := inTurn(all)
	if len(all) < fewest*columns || slices.Min(left) < Few {
		return nil
	}
	var fitted []coefficient
	if len(all) >= fewest*(columns+kinds) {
		whole := make([][]float64, len(all))
		for i := range all {
			whole[i] = slices.Concat(rows[i], all[i].Grown)
		}
		fitted = fit(whole, used, 0)
	}
	if fitted == nil { // too few for the changes, or some kind has none
		fitted = fit(rows, used, 0)
	}
	if fitted == nil {
		return nil
	}
	cpu := max(0, fitted[kinds].each) // of an interval with the whole mix
	for k := range kinds {
		cpu += sent[k] * max(0, fitted[k].each)
	}
	costs := make([]Cost, kinds)
	for k := range costs {
		low, high := fitted[k].interval()
		costs[k] = Cost{Each: fitted[k].each, Low: low, High: high, Share: sent[k] * fitted[k].each / cpu, Varied: true}
	}
	return costs
}

// inTurn returns, for each kind, its mean number of requests in the intervals in which it was sent,
// and in how many it was left out: it has less than a fifth of its mean in all, as of requests that
// were in flight when it was left out.
func inTurn(all []Interval) (sent []float64, left []int) {
	const few = 0.2
	kinds := len(all[0].Ended)
	sent, left = make([]float64, kinds), make([]int, kinds)
	for k := range kinds {
		mean := 0.0
		for _, one := range all {
			mean += one.Ended[k] / float64(len(all))
		}
		for _, one := range all {
			if one.Ended[k] < few*mean {
				left[k]++
			} else {
				sent[k] += one.Ended[k]
			}
		}
		sent[k] /= float64(max(1, len(all)-left[k]))
	}
	return sent, left
}

// levelled are the rows and the CPU times with the means of those near them replaced by so much of
// the means of all, and the share of its length that a row lost. A cost that drifts while the mix
// does is not in them; with nothing of the means, neither is what does not follow the requests.
func levelled(rows [][]float64, cpu []float64, kept float64) (level [][]float64, used []float64, lost float64) {
	n := len(rows[0])
	whole := means(rows, cpu)
	from := 0
	for chunk := range slices.Chunk(rows, near) {
		local := means(chunk, cpu[from:])
		for _, row := range chunk {
			row = append(slices.Clone(row), cpu[from])
			for k := range row {
				row[k] += kept*whole[k] - local[k]
			}
			level, used, from = append(level, row[:n]), append(used, row[n]), from+1
		}
	}
	return level, used, 1.0 / near
}

// means are those of the columns, and of the CPU times.
func means(rows [][]float64, cpu []float64) []float64 {
	all := make([]float64, len(rows[0])+1)
	for i, row := range rows {
		for k, v := range append(slices.Clone(row), cpu[i]) {
			all[k] += v / float64(len(rows))
		}
	}
	return all
}

// coefficient is one of a fit, with its standard error.
type coefficient struct{ each, off float64 }

func (c coefficient) interval() (low, high float64) { return c.each - z*c.off, c.each + z*c.off }

// fit is the least squares of the CPU time on the columns of the rows. The errors allow for
// intervals that scatter by different amounts (HC3, MacKinnon and White 1985). Lost is the leverage
// of what was taken from each row before.
func fit(rows [][]float64, cpu []float64, lost float64) (all []coefficient) {
	n := len(rows[0])
	// The normal equations, of columns that are scaled to like sizes.
	scale := make([]float64, n)
	for _, row := range rows {
		for k, v := range row {
			scale[k] += v * v
		}
	}
	for k := range scale {
		if scale[k] == 0 {
			return nil // a kind of which no request ended
		}
		scale[k] = math.Sqrt(scale[k])
	}
	products, right := square(n), make([]float64, n)
	for i, row := range rows {
		for a := range n {
			x := row[a] / scale[a]
			right[a] += x * cpu[i]
			for b := range n {
				products[a][b] += x * row[b] / scale[b]
			}
		}
	}
	inverse := inverted(products)
	if inverse == nil {
		return nil
	}
	each := times(inverse, right)
	middle := square(n)
	x := make([]float64, n)
	for i, row := range rows {
		off := cpu[i]
		for k := range n {
			x[k] = row[k] / scale[k]
			off -= x[k] * each[k]
		}
		leverage := lost + dot(x, times(inverse, x))
		off /= max(1-leverage, 1e-9)
		for a := range n {
			for b := range n {
				middle[a][b] += off * off * x[a] * x[b]
			}
		}
	}
	all = make([]coefficient, n)
	for k := range n {
		variance := dot(inverse[k], times(middle, inverse[k]))
		all[k] = coefficient{each[k] / scale[k], math.Sqrt(variance) / scale[k]}
	}
	return all
}

func square(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func times(m [][]float64, v []float64) []float64 {
	out := make([]float64, len(m))
	for i := range m {
		out[i] = dot(m[i], v)
	}
	return out
}

// inverted is the inverse of a symmetric positive definite matrix whose diagonal is 1, by its
// Cholesky factor; nil: it is singular, or nearly so.
func inverted(m [][]float64) [][]float64 {
	n := len(m)
	lower := square(n)
	for i := range n {
		for j := range i + 1 {
			sum := m[i][j] - dot(lower[i][:j], lower[j][:j])
			if i != j {
				lower[i][j] = sum / lower[j][j]
				continue
			}
			if sum < flat {
				return nil
			}
			lower[i][i] = math.Sqrt(sum)
		}
	}
	out := square(n)
	for k := range n {
		// Solve for the column k of the inverse: forward, then backward.
		column := make([]float64, n)
		column[k] = 1
		for i := range n {
			column[i] = (column[i] - dot(lower[i][:i], column[:i])) / lower[i][i]
		}
		for i := n - 1; i >= 0; i-- {
			for j := i + 1; j < n; j++ {
				column[i] -= lower[j][i] * column[j]
			}
			column[i] /= lower[i][i]
		}
		for i := range n {
			out[i][k] = column[i]
		}
	}
	return out
}
