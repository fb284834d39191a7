package phrase

import "testing"

func TestList(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := List(words); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestChoice(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := Choice(words); got != want {
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

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{0: "0 s", 54.4: "54 s", 99.9: "100 s", 120: "2 min", 200.2: "3 min 20 s"} {
		if got := Seconds(s); got != want {
			t.Errorf("%v: %q, want %q", s, got, want)
		}
	}
}
