package phrase

import "testing"

func TestList(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := List(words); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for want, n := range map[string]int{"1 search": 1, "2 searches": 2} {
		if got := Plural(n, "search"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Plural(0, "trial"); got != "0 trials" {
		t.Errorf("%q", got)
	}
}

func TestJoinLeavesOutWhatIsEmpty(t *testing.T) {
	if got := Join("", "a", "", "b"); got != "a; b" {
		t.Errorf("%q", got)
	}
}
