package digits

import "testing"

func TestGrouped(t *testing.T) {
	for number, want := range map[string]string{"": "", "7": "7", "999": "999", "1000": "1,000", "2500000.5": "2,500,000.5", "0.1234": "0.1234"} {
		if got := Grouped(number); got != want {
			t.Errorf("%q: %q, want %q", number, got, want)
		}
	}
}

func TestSignificant(t *testing.T) {
	for _, c := range []struct {
		v    float64
		most int
		want string
	}{
		{0, 3, "0"}, {5, 3, "5"}, {12.3456, 3, "12.3"}, {99.96, 3, "100"}, {0.05, 3, "0.05"}, {0.00012345, 3, "0.000123"},
		{999.5, 3, "1,000"}, {1234.5, 3, "1,234"}, {49740, 4, "49,740"}, {1.5e7, 3, "15,000,000"}, {-12.34, 3, "-12.3"}, {-0.0001, 1, "-0.0001"}, {1000, 4, "1,000"},
	} {
		if got := Significant(c.v, c.most); got != c.want {
			t.Errorf("%v, %d digits: %q, want %q", c.v, c.most, got, c.want)
		}
	}
}

func TestExactHasAllDigits(t *testing.T) {
	for v, want := range map[float64]string{50: "50", 2.5: "2.5", 10_000_000: "10,000,000", 2500.5: "2,500.5", 0.000000001: "0.000000001"} {
		if got := Exact(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}
