package digits

import "testing"

func TestGrouped(t *testing.T) {
	for number, want := range map[string]string{"": "", "7": "7", "999": "999", "1000": "1,000", "2500000.5": "2,500,000.5", "0.1234": "0.1234"} {
		if got := Grouped(number); got != want {
			t.Errorf("%q: %q, want %q", number, got, want)
		}
	}
}
