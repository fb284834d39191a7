// Package weights draws kinds of request by their weights, of which the stages of a load may omit
// some.
package weights

import (
	"math/rand/v2"
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
)

// Weights draw kinds. The zero value has none.
type Weights struct {
	names   []string
	each    []int
	ends    []int            // cumulative weights
	omitted map[string][]int // those of the stages that omit a kind, by its name
	curve   *schedule.Curve  // says which kind is omitted
	began   time.Duration    // start of the curve
}

// Add adds a kind with a weight of 1 or more. Several may have one name.
func (w *Weights) Add(name string, weight int) {
	w.names, w.each = append(w.names, name), append(w.each, weight)
	w.ends = w.without("")
}

// Follow makes the weights those of a curve that begins at a time.
func (w *Weights) Follow(curve *schedule.Curve, began time.Duration) {
	w.curve, w.began, w.omitted = curve, began, nil
	for _, name := range curve.Omitted() {
		if w.omitted == nil {
			w.omitted = map[string][]int{}
		}
		w.omitted[name] = w.without(name)
	}
}

// Draw returns the index of a kind for a request that is intended at a time.
func (w *Weights) Draw(random *rand.Rand, intended time.Duration) (kind int32) {
	ends := w.ends
	if w.omitted != nil {
		if some := w.omitted[w.curve.Omits(intended-w.began)]; some != nil {
			ends = some
		}
	}
	for drawn := random.IntN(ends[len(ends)-1]); drawn >= ends[kind]; {
		kind++
	}
	return kind
}

// without are the cumulative weights without the kinds of a name; of all kinds, if none is left.
func (w *Weights) without(name string) []int {
	ends, sum := make([]int, len(w.each)), 0
	for i, weight := range w.each {
		if name == "" || w.names[i] != name {
			sum += weight
		}
		ends[i] = sum
	}
	if sum == 0 {
		return w.without("")
	}
	return ends
}
