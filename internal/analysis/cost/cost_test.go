package cost

import (
	"math"
	"testing"
)

// costing is a window of six blocks of half a second each, whose requests cost so many ms of
// CPU, a tenth more in every second block.
func costing(at, load, each float64) Window {
	var blocks []Block
	for i := range 6 {
		n := int64(load / 2)
		blocks = append(blocks, Block{float64(n) * each / 1000 * (1 + .1*float64(i%2)), n})
	}
	w, _ := Of(at, load, blocks)
	return w
}

func windows(values ...float64) (all Windows) {
	for i := 0; i < len(values); i += 3 {
		all = append(all, costing(values[i], values[i+1], values[i+2]))
	}
	return all
}

func TestCostsThatDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		seen          Windows
		early, middle float64 // the capacity at 10 s and at 25 s, as a share of that at last; 0: it did not change
	}{
		"a drift":               {windows(10, 200, 4.1, 15, 210, 4, 30, 200, 3, 40, 205, 2.9), 2.9 / 4.1, math.Sqrt(2.9 / 4.1)},
		"a leak":                {windows(10, 200, 3, 15, 210, 3, 30, 200, 4, 40, 205, 4.1), 4.1 / 3, math.Sqrt(4.1 / 3)},
		"a steady service":      {windows(10, 200, 4, 15, 210, 4.2, 30, 200, 3.9, 40, 205, 4), 0, 0},
		"too little":            {windows(10, 200, 4, 15, 210, 4, 30, 200, 3.5, 40, 205, 3.5), 0, 0},
		"within 8 s":            {windows(10, 200, 4, 12, 200, 4, 17, 200, 3, 17.9, 200, 3), 0, 0},
		"at other loads":        {windows(10, 100, 4, 15, 100, 4, 40, 130, 2, 45, 130, 2), 0, 0},
		"work without requests": {windows(10, 100, 4, 15, 100, 4, 40, 125, 3, 45, 125, 3), 0, 0}, // 3.2 if all of it were
		"below half the answer": {windows(10, 90, 8, 15, 90, 8, 40, 90, 4, 45, 90, 4, 50, 200, 4), 0, 0},
		"one dear window":       {windows(10, 200, 4, 20, 200, 4, 30, 200, 8, 40, 200, 4, 50, 200, 4), 0, 0},
	} {
		share, changed := c.seen.Changed(200)
		if changed != (c.early > 0) {
			t.Errorf("%s: %v", name, changed)
		} else if changed && (math.Abs(share(10)-c.early) > 1e-9 || math.Abs(share(25)-c.middle) > 1e-9 || share(0) != share(10) || share(40) != 1 || share(99) != 1) {
			t.Errorf("%s: %v at 10 s, %v at 25 s", name, share(10), share(25))
		}
	}
	if _, _, differ := windows(10, 200, 4, 20, 200, 4, 30, 200, 8, 40, 200, 4).apart(200); !differ {
		t.Error("one dear window alone does not differ")
	}
}

// Each of its blocks differs by 0.2 of 4.2 ms.
func TestTheCostOfARequest(t *testing.T) {
	w := costing(10, 200, 4) // 600 requests, of 4 and 4.4 ms
	if math.Abs(w.Each()-.0042) > 1e-9 || w.requests != 600 || w.free != 5 || math.Abs(w.spread-600*math.Pow(.2/4.2, 2)) > 1e-9 {
		t.Errorf("%+v", w)
	}
	// Half as much in one block and half as much more in the other, of 200 requests each.
	wild := func(at, each float64, n int64) Window {
		w, _ := Of(at, 200, []Block{{each * .5 * float64(n), n}, {each * 1.5 * float64(n), n}})
		return w
	}
	all := Windows{wild(10, 4, 200), wild(20, 4, 200), wild(30, 3, 200), wild(40, 3, 200)}
	if _, changed := all.Changed(200); changed {
		t.Error("blocks that differ more than the windows do show a change")
	}
	for name, blocks := range map[string][]Block{"one block": {{1, 100}}, "no CPU": {{1, 100}, {0, 100}}, "no request": {{1, 100}, {1, 0}}} {
		if _, known := Of(10, 200, blocks); known {
			t.Errorf("%s: known", name)
		}
	}
}
