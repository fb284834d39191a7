// Package quantity reads CPUs and memory as Kubernetes writes them, lists of CPUs as the
// kernel does, and percentages. An error quotes the text and states what is valid.
package quantity

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	MostCPUs = 4096
	// LeastMemory is the minimum in bytes for a process to start, and what clients of gRPC take
	// as a message.
	LeastMemory = 4 << 20
	MostMemory  = math.MaxInt64 / 2
)

// Syntax is that of Kubernetes, without signs, and with short exponents.
var Syntax = regexp.MustCompile(`^([0-9]{1,18}(\.[0-9]{0,9})?|\.[0-9]{1,9})([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$`)

// noLimit are words that people write for no limit.
var noLimit = []string{"none", "no", "null", "unset", "off", "unlimited", "max", "infinity", "inf"}

// Given refuses a word for no limit, with the way to write it.
func Given(s string) error {
	if slices.Contains(noLimit, strings.ToLower(s)) {
		return fmt.Errorf("%q is not a quantity; for no limit, write null", s)
	}
	return nil
}

func parse(s string) (resource.Quantity, bool) {
	if !Syntax.MatchString(s) {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(s)
	return q, err == nil
}

// CPU reads a quantity of CPUs. The value, an int64, is in thousandths of one.
func CPU(s string) (any, error) {
	q, ok := parse(s)
	if !ok {
		return nil, fmt.Errorf("%q is not a quantity of CPUs; write CPUs or thousandths of one, as in 1.5 or 500m", s)
	}
	if q.CmpInt64(MostCPUs) > 0 {
		return nil, fmt.Errorf("%q is more than %d CPUs; write thousandths of a CPU with an m, as in 500m", s, MostCPUs)
	}
	millis := q.MilliValue()
	if q.Cmp(*resource.NewMilliQuantity(millis, resource.DecimalSI)) != 0 {
		return nil, fmt.Errorf("%q has a finer resolution than a thousandth of a CPU (1m)", s)
	}
	return millis, nil
}

// Memory reads a quantity of memory. The value, an int64, is in bytes.
func Memory(s string) (any, error) {
	q, ok := parse(s)
	if !ok {
		message := fmt.Sprintf("%q is not a quantity of memory; write it as 256Mi or 1Gi", s)
		if bare := strings.TrimSuffix(s, "B"); bare != s && Syntax.MatchString(bare) {
			message = fmt.Sprintf("%q is not a quantity of memory; Kubernetes writes %s, or %si for powers of 1024", s, bare, strings.TrimSuffix(bare, "i"))
		}
		return nil, errors.New(message)
	}
	if strings.HasSuffix(s, "m") {
		return nil, fmt.Errorf("%q is thousandths of a byte; did you mean %q?", s, strings.TrimSuffix(s, "m")+"Mi")
	}
	if q.CmpInt64(LeastMemory) < 0 {
		return nil, fmt.Errorf("%q is less than 4Mi, the minimum", s)
	}
	if q.CmpInt64(MostMemory) > 0 {
		return nil, fmt.Errorf("%q is more memory than a machine can have", s)
	}
	return q.Value(), nil
}

// CPUs reads the list format of cpuset(7), "0" or "0-1,4", whose syntax was checked. The value
// is the text.
func CPUs(s string) (any, error) {
	for part := range strings.SplitSeq(s, ",") {
		low, high, ranged := strings.Cut(part, "-")
		from, _ := strconv.Atoi(low)
		to, _ := strconv.Atoi(high)
		if ranged && to < from {
			return nil, fmt.Errorf("%q: the range %s is reversed", s, part)
		}
	}
	return s, nil
}

// The syntax of Percent and of Share.
var (
	PercentSyntax = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,9})?$`)
	ShareSyntax   = regexp.MustCompile(`^[1-9][0-9]{0,3}%$`)
)

// Percent reads a percentage as a float64.
func Percent(s string) (any, error) {
	p, err := strconv.ParseFloat(s, 64)
	if err != nil || !PercentSyntax.MatchString(s) || p <= 0 || p > 100 {
		return nil, fmt.Errorf("%q is not a percentage above 0 and up to 100, as in 99.9", s)
	}
	return p, nil
}

// Share reads a whole percentage, which may be above 100, as an int64.
func Share(s string) (any, error) {
	const most = 1000
	number, err := strconv.ParseInt(strings.TrimSuffix(s, "%"), 10, 64)
	switch {
	case err == nil && number > 0 && !strings.HasSuffix(s, "%"):
		return nil, fmt.Errorf("%q is not a percentage; did you mean %q?", s, s+"%")
	case !ShareSyntax.MatchString(s) || number > most:
		return nil, fmt.Errorf("%q is not a whole percentage from 1%% to %d%%, as in 60%%", s, most)
	}
	return number, nil
}
