package display

import (
	"math"
	"strconv"
	"strings"
)

// Percent writes an availability, given in percent. It rounds down: 99.9996 is
// not "100%".
func Percent(v float64) string {
	if v >= 100 {
		return "100%"
	}
	decimals := 1
	if v > 99 {
		decimals = 3
	}
	if v == 0 {
		decimals = 0
	}
	scale := math.Pow10(decimals)
	text := strconv.FormatFloat(math.Floor(v*scale+1e-6)/scale, 'f', decimals, 64)
	if decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + "%"
}

// Share writes a share (0 to 1) in percent: whole, with a decimal below 10%, and
// never 0% or 100% for a share that is only close to it. NaN is Absent.
func Share(v float64) string {
	p := v * 100
	switch {
	case math.IsNaN(v):
		return Absent
	case p <= 0:
		return "0%"
	case p < 0.1:
		return "<0.1%"
	case p < 9.95:
		return strings.TrimSuffix(strconv.FormatFloat(p, 'f', 1, 64), ".0") + "%"
	case p > 99 && p < 100:
		return ">99%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// Shares writes the interval of a share in percent: "11–64%"; one number if both ends are
// the same. An end that is only close to 0% or 100% is written as that.
func Shares(low, high float64) string {
	from, to := Share(low), Share(high)
	switch {
	case from == to:
		return from
	case low < 0.001:
		from = "0%"
	}
	if high > 0.99 {
		to = "100%"
	}
	return strings.TrimSuffix(from, "%") + "–" + to
}

// Microseconds writes a time that may be much shorter than a request: "2.50 µs",
// "4.56 ms".
func Microseconds(v float64) string {
	if v < 999.5 {
		return Figure(v) + " µs"
	}
	return WithUnit(v / 1000)
}

// Bytes writes a number of bytes with its unit: "256 MiB", "18.2 MiB".
func Bytes(n float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for n >= 1024 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	if n == math.Trunc(n) {
		return Grouped(int64(n)) + " " + units[i]
	}
	return Figure(n) + " " + units[i]
}

// CPULimit writes a limit in CPUs, or a number of them: "500m CPU", "1 CPU", "1.5 CPUs".
func CPULimit(cpus float64) string {
	switch {
	case cpus < 1:
		return strconv.FormatInt(int64(math.Round(cpus*1000)), 10) + "m CPU"
	case cpus == 1:
		return "1 CPU"
	}
	return strconv.FormatFloat(cpus, 'g', 4, 64) + " CPUs"
}

// Mebibytes is a number of bytes in MiB, for a column.
func Mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// Maybe writes a figure, or Absent where it was not measured.
func Maybe[T any](v *T, write func(T) string) string {
	if v == nil {
		return Absent
	}
	return write(*v)
}
