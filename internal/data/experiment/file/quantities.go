package file

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
	mostCPUs = 4096
	// leastMemory is the minimum for a process to start, and what clients of gRPC take as a message.
	leastMemory = 4 << 20
)

// quantitySyntax is that of Kubernetes, without signs, and with short exponents.
var quantitySyntax = regexp.MustCompile(`^([0-9]{1,18}(\.[0-9]{0,9})?|\.[0-9]{1,9})([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$`)

// noLimit are words that people write for no limit.
var noLimit = []string{"none", "no", "null", "unset", "off", "unlimited", "max", "infinity", "inf"}

// refuseNoLimit refuses a word for no limit, with the way to write it.
func refuseNoLimit(s string) error {
	if slices.Contains(noLimit, strings.ToLower(s)) {
		return fmt.Errorf("%q is not a quantity; for no limit, write null", s)
	}
	return nil
}

func quantity(s string) (resource.Quantity, bool) {
	if !quantitySyntax.MatchString(s) {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(s)
	return q, err == nil
}

// readCPU reads a Kubernetes quantity of CPUs in thousandths.
func readCPU(s string) (any, error) {
	q, ok := quantity(s)
	if !ok {
		return nil, fmt.Errorf("%q is not a quantity of CPUs; write CPUs or thousandths of one, as in 1.5 or 500m", s)
	}
	if q.CmpInt64(mostCPUs) > 0 {
		return nil, fmt.Errorf("%q is more than %d CPUs; write thousandths of a CPU with an m, as in 500m", s, mostCPUs)
	}
	millis := q.MilliValue()
	if q.Cmp(*resource.NewMilliQuantity(millis, resource.DecimalSI)) != 0 {
		return nil, fmt.Errorf("%q has a finer resolution than a thousandth of a CPU (1m)", s)
	}
	return millis, nil
}

// readMemory reads a Kubernetes quantity of bytes.
func readMemory(s string) (any, error) {
	q, ok := quantity(s)
	if !ok {
		message := fmt.Sprintf("%q is not a quantity of memory; write it as 256Mi or 1Gi", s)
		if bare := strings.TrimSuffix(s, "B"); bare != s && quantitySyntax.MatchString(bare) {
			message = fmt.Sprintf("%q is not a quantity of memory; Kubernetes writes %s, or %si for powers of 1024", s, bare, strings.TrimSuffix(bare, "i"))
		}
		return nil, errors.New(message)
	}
	if strings.HasSuffix(s, "m") {
		return nil, fmt.Errorf("%q is thousandths of a byte; did you mean %q?", s, strings.TrimSuffix(s, "m")+"Mi")
	}
	if q.CmpInt64(leastMemory) < 0 {
		return nil, fmt.Errorf("%q is less than 4Mi, the minimum", s)
	}
	if q.CmpInt64(math.MaxInt64/2) > 0 {
		return nil, fmt.Errorf("%q is more memory than a machine can have", s)
	}
	return q.Value(), nil
}

// readCPUList reads the list format of cpuset(7): "0", "0-1,4".
func readCPUList(s string) (any, error) {
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
