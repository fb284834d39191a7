package display

import (
	"math"
	"testing"

	"github.com/millicore/millicore/internal/base/phrase"
)

func TestPercentNeverRoundsUpToAll(t *testing.T) {
	for v, want := range map[float64]string{
		100: "100%", 99.99999: "99.999%", 99.96: "99.96%", 99.95: "99.95%", 99.9: "99.9%", 99: "99%", 55.43: "55.4%", 0: "0%", 0.04: "0%", 12: "12%",
	} {
		if got := Percent(v); got != want {
			t.Errorf("Percent(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestShareIsNeverNoneOrAllForWhatIsClose(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0%", 0.0004: "<0.1%", 0.004: "0.4%", 0.0382: "3.8%", 0.05: "5%", 0.0999: "10%", 0.906: "91%", 0.985: "98%", 0.999: ">99%", 1: "100%", 1.04: "104%",
	} {
		if got := Share(v); got != want {
			t.Errorf("Share(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Share(math.NaN()); got != Absent {
		t.Errorf("Share(NaN) = %q, want %q", got, Absent)
	}
}

func TestBytesChooseTheirUnit(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0 B", 512: "512 B", 1536: "1.50 KiB", 256 << 20: "256 MiB", 19084083: "18.2 MiB", 8 << 30: "8 GiB", 1.5 * (1 << 40): "1.50 TiB",
	} {
		if got := Bytes(v); got != want {
			t.Errorf("Bytes(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestMicrosecondsChooseTheirUnit(t *testing.T) {
	for v, want := range map[float64]string{0: "0 µs", 0.256: "0.256 µs", 183: "183 µs", 999.6: "1.00 ms", 4562: "4.56 ms", 1015294.6: "1.02 s"} {
		if got := Microseconds(v); got != want {
			t.Errorf("Microseconds(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestListJoinsAsASentenceDoes(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := phrase.List(words); got != want {
			t.Errorf("List(%q) = %q, want %q", words, got, want)
		}
	}
}
