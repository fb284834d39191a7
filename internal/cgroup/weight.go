package cgroup

import "math"

// CPURequests returns the CPU requests of Kubernetes, in CPUs, that the group's own weight
// can stand for: see [Requests]. It is absent if it stands for none.
func (g Group) CPURequests() Value[[]float64] {
	p, ok := g.Place(CPU).Get()
	if !ok {
		return answer[[]float64](g.Place(CPU).Err())
	}
	name := "cpu.weight"
	if p.Version == V1 {
		name = "cpu.shares"
	}
	data, err := g.fs.read(p.Dir, name)
	if err != nil || data == nil {
		return answer[[]float64](err)
	}
	weight, err := parseNumber(data)
	if err != nil {
		return UnreadableValue[[]float64](g.fs.at(p.Dir, name, err))
	}
	requests := Requests(p.Version, weight)
	if requests == nil {
		return Value[[]float64]{}
	}
	return ValueOf(requests)
}

// Shares converts a CPU request of Kubernetes, in thousandths of a CPU, to CPU shares, as
// kubelets do: cpu.shares of v1. kubernetes/kubernetes, pkg/kubelet/cm/helpers_linux.go,
// MilliCPUToShares.
func Shares(millis int64) int64 {
	const least, most = 2, 1 << 18
	return min(max(millis*1024/1000, least), most)
}

// Weight converts CPU shares to cpu.weight of v2 by the second conversion of [Requests], which
// makes 1,024 shares the weight of a group that has none set, 100.
func Weight(shares int64) int64 {
	switch {
	case shares <= 2:
		return 1
	case shares >= 1<<18:
		return 10000
	}
	l := math.Log2(float64(shares))
	return int64(math.Ceil(math.Pow(10, (l*l+125*l)/612-7.0/34)))
}

// Requests converts a weight to the CPU requests of Kubernetes that it can stand for: the
// least of those that become this weight. nil for the lowest weight, which stands for no
// request.
//
// Kubelets give a container 1,024 shares for a CPU, which cpu.shares of v1 has. On v2
// runtimes convert the shares to cpu.weight, in one of two ways, which the weight does not
// show: the first request is by 1 + (shares−2)·9999/262142, rounded down; the second, the
// lower one, by the conversion that runc has since 1.4 and crun since 1.23, rounded up:
//
//	10^((l² + 125·l)/612 − 7/34), with l = log2(shares)
//
// opencontainers/cgroups, ConvertCPUSharesToCgroupV2Value; kubernetes/kubernetes#131216.
func Requests(version Version, weight int64) []float64 {
	const shares = 1024
	switch {
	case weight <= 1 || version == V1 && weight == 2:
		return nil
	case version == V1:
		return []float64{float64(weight) / shares}
	}
	linear := 2 + float64(weight-1)*262142/9999
	l := (math.Sqrt(125*125+4*612*(math.Log10(float64(weight-1))+7.0/34)) - 125) / 2
	return []float64{linear / shares, math.Exp2(l) / shares}
}
