package kubelet

import "testing"

func TestWhetherAKubeletLooksOften(t *testing.T) {
	before := map[string]int64{"a": 1, "b": 2, "c": 3, "gone": 4}
	for _, c := range []struct {
		name  string
		after map[string]int64
		want  bool
	}{
		{"all again", map[string]int64{"a": 2, "b": 3, "c": 4, "new": 9}, true},
		{"most", map[string]int64{"a": 2, "b": 3, "c": 3}, true},
		{"some", map[string]int64{"a": 2, "b": 2, "c": 3}, false},
		{"none", before, false},
		{"nothing", nil, false},
	} {
		if got := renewed(before, c.after); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
