package spelling

import "testing"

func TestNearestWord(t *testing.T) {
	keys := []string{"cpu", "memory", "burst", "period", "cpuset", "replicas"}
	for _, c := range []struct{ name, word, want string }{
		{"a letter too many", "cpuu", "cpu"},
		{"a letter missing", "replica", "replicas"},
		{"two letters swapped", "pcu", "cpu"},
		{"a wrong letter", "bursd", "burst"},
		{"another case", "CPUSet", "cpuset"},
		{"the beginning of one word", "mem", "memory"},
		{"the whole of one and the beginning of another", "cpus", "cpu"},
		{"nothing like it", "disk", ""},
		{"nothing", "", ""},
		{"one letter", "c", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Nearest(c.word, keys); got != c.want {
				t.Errorf("Nearest(%q) = %q, want %q", c.word, got, c.want)
			}
		})
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"kitten", "sitting", 3},
		{"limits", "limts", 1},
		{"rate", "rtae", 1},
		{"Größe", "größe", 0},
		{"ca", "abc", 3}, // optimal string alignment, not the full Damerau distance of 2
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
