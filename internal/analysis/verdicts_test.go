package analysis

import "testing"

func TestBreakingPointsAreToldApartByTheirIntervals(t *testing.T) {
	between := func(low, high float64) *BreakingPoint { return &BreakingPoint{Low: &low, High: &high} }
	from := func(low float64) *BreakingPoint { return &BreakingPoint{Low: &low, AtLeast: true} }
	for _, c := range []struct {
		name string
		a, b *BreakingPoint
		want int
	}{
		{"above", between(110, 120), between(90, 100), 1},
		{"they touch", between(100, 120), between(90, 100), 0},
		{"they overlap", between(95, 120), between(90, 100), 0},
		{"a lower bound above", from(110), between(90, 100), 1},
		{"a lower bound below may lie anywhere", from(50), between(90, 100), 0},
		{"two lower bounds", from(50), from(90), 0},
		{"none was found", &BreakingPoint{}, between(90, 100), 0},
		{"not searched", nil, between(90, 100), 0},
	} {
		if got, back := c.a.Against(c.b), c.b.Against(c.a); got != c.want || back != -c.want {
			t.Errorf("%s: %d and the other way %d, want %d", c.name, got, back, c.want)
		}
	}
}
