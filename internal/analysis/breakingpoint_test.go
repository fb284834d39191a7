package analysis

import "testing"

func TestBreakingPointsDifferIfFourSearchesDoNotOverlap(t *testing.T) {
	between := func(low, high float64, searches int) *BreakingPoint {
		return &BreakingPoint{Low: &low, High: &high, Searches: searches}
	}
	from := func(low float64) *BreakingPoint { return &BreakingPoint{Low: &low, AtLeast: true, Searches: 4} }
	for _, c := range []struct {
		name string
		a, b *BreakingPoint
		want int
	}{
		{"above", between(110, 120, 4), between(90, 100, 4), 1},
		{"above, by one search each", between(110, 120, 1), between(90, 100, 1), 0},
		{"above, by three searches of one side", between(110, 120, 3), between(90, 100, 6), 0},
		{"they touch", between(100, 120, 4), between(90, 100, 4), 0},
		{"they overlap", between(95, 120, 4), between(90, 100, 4), 0},
		{"a lower bound above", from(110), between(90, 100, 4), 1},
		{"a lower bound below may lie anywhere", from(50), between(90, 100, 4), 0},
		{"two lower bounds", from(50), from(90), 0},
		{"none was found", &BreakingPoint{}, between(90, 100, 4), 0},
		{"not searched", nil, between(90, 100, 4), 0},
	} {
		if got, back := c.a.Against(c.b), c.b.Against(c.a); got != c.want || back != -c.want {
			t.Errorf("%s: %d and the other way %d, want %d", c.name, got, back, c.want)
		}
	}
}
