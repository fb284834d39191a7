package doctor

import (
	"math"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/data/display"
)

// quantity writes CPUs as Kubernetes does: 2, 1500m.
func quantity(cpus float64) string {
	millis := int64(math.Round(cpus * 1000))
	if millis%1000 == 0 {
		return strconv.FormatInt(millis/1000, 10)
	}
	return strconv.FormatInt(millis, 10) + "m"
}

// millis writes a time in milliseconds.
func millis(d time.Duration) string {
	return display.Figure(float64(d)/float64(time.Millisecond)) + " ms"
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64) + " s"
}

// mebibytes writes a size as Kubernetes does: 256Mi.
func mebibytes(bytes int64) string {
	if bytes%(1<<20) != 0 {
		return strconv.FormatInt(bytes, 10)
	}
	return strconv.FormatInt(bytes>>20, 10) + "Mi"
}
