package html

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/show/narrative"
)

// rgb is a colour in linear light.
type rgb [3]float64

// lab is a colour in CIELAB, under the white of D65.
type lab [3]float64

// sights turn colours into those that an eye sees: the matrices for the full deficiency
// of Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of
// Color Vision Deficiency" (2009).
var sights = map[string][3]rgb{
	"all colours":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
}

// seen is a colour as an eye sees it.
func (c rgb) seen(sight [3]rgb) rgb {
	var out rgb
	for i, row := range sight {
		out[i] = math.Max(0, math.Min(1, row[0]*c[0]+row[1]*c[1]+row[2]*c[2]))
	}
	return out
}

func (c rgb) luminance() float64 { return 0.2126729*c[0] + 0.7151522*c[1] + 0.0721750*c[2] }

func (c rgb) lab() lab {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124564*c[0] + 0.3575761*c[1] + 0.1804375*c[2]) / 0.95047)
	y, z := f(c.luminance()), f((0.0193339*c[0]+0.1191920*c[1]+0.9503041*c[2])/1.08883)
	return lab{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// distance is the difference of two colours (CIE 1976).
func (c lab) distance(d lab) float64 {
	return math.Sqrt(math.Pow(c[0]-d[0], 2) + math.Pow(c[1]-d[1], 2) + math.Pow(c[2]-d[2], 2))
}

func (c lab) chroma() float64 { return math.Hypot(c[1], c[2]) }

// styles are all styles of the page.
func styles() string { return joined(styleFiles) }

// themed are a custom property's colours in the light and in the dark theme.
func themed(t *testing.T, name string) [2]rgb {
	t.Helper()
	m := regexp.MustCompile(`--` + name + `: (?:light-dark\()?(#[0-9a-f]{6})(?:, (#[0-9a-f]{6})\))?;`).FindStringSubmatch(styles())
	if m == nil {
		t.Fatalf("the styles have no colour --%s", name)
	}
	if m[2] == "" {
		m[2] = m[1]
	}
	return [2]rgb{linear(t, m[1]), linear(t, m[2])}
}

// linear reads "#rrggbb" (sRGB).
func linear(t *testing.T, hex string) rgb {
	t.Helper()
	var out rgb
	for i := range out {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		if s := float64(v) / 255; s <= 0.04045 {
			out[i] = s / 12.92
		} else {
			out[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return out
}

// The cells stay apart from one another, and from the tones of the causes, for
// colour-blind eyes too, on both grounds.
func TestColoursStayApart(t *testing.T) {
	const apart, fromCauses, onGround = 15, 20, 2.2
	for eye, sight := range sights {
		for theme, name := range []string{"light", "dark"} {
			ground := themed(t, "card")[theme]
			for i := range hues {
				cell := themed(t, fmt.Sprintf("c%d", i))[theme]
				for k := range i {
					other := themed(t, fmt.Sprintf("c%d", k))[theme]
					if d := cell.seen(sight).lab().distance(other.seen(sight).lab()); d < apart {
						t.Errorf("%s, %s: the cells %d and %d are %.1f apart, want %d", eye, name, k, i, d, apart)
					}
				}
				for _, tone := range []string{"cause", "blank"} {
					if d := cell.seen(sight).lab().distance(themed(t, tone)[theme].seen(sight).lab()); d < fromCauses {
						t.Errorf("%s, %s: the cell %d and the tone --%s of the causes are %.1f apart, want %d", eye, name, i, tone, d, fromCauses)
					}
				}
				low, high := cell.luminance()+0.05, ground.luminance()+0.05
				if low > high {
					low, high = high, low
				}
				if high/low < onGround {
					t.Errorf("%s: the cell %d has a contrast of %.2f to the ground, want %.1f", name, i, high/low, onGround)
				}
			}
		}
	}
}

// Causes have no hue, which belongs to the cells: each has a pattern of its own, of two
// tones that are far apart in lightness.
func TestCausesHavePatternsAndNoHue(t *testing.T) {
	for theme, name := range []string{"light", "dark"} {
		dark, light := themed(t, "cause")[theme].lab(), themed(t, "blank")[theme].lab()
		if math.Abs(dark[0]-light[0]) < 45 {
			t.Errorf("%s: the tones of the causes differ by %.0f in lightness, want 45", name, math.Abs(dark[0]-light[0]))
		}
		if c := math.Max(dark.chroma(), light.chroma()); c > 10 {
			t.Errorf("%s: the tones of the causes have a chroma of %.0f, want less than 10", name, c)
		}
	}
	patterns := map[string]string{}
	for _, c := range append(narrative.Causes, narrative.Cause{Name: "other"}) {
		m := regexp.MustCompile(`\n\.k-` + c.Name + ` \{ background: ([^}]*); \}`).FindStringSubmatch(styles())
		if m == nil {
			t.Errorf("the cause %q has no pattern", c.Name)
			continue
		}
		if other, ok := patterns[m[1]]; ok {
			t.Errorf("the causes %q and %q have one pattern", c.Name, other)
		}
		patterns[m[1]] = c.Name
		if rest := strings.NewReplacer("var(--cause)", "", "var(--blank)", "").Replace(m[1]); strings.ContainsAny(rest, "#") || strings.Contains(rest, "var(") {
			t.Errorf("the cause %q has other tones than the two: %s", c.Name, m[1])
		}
	}
}
