package lab

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strconv"
)

// kernelHZ is the kernel's CONFIG_HZ, which sets by how much a CPU can overrun
// its quota; nil where the kernel's configuration cannot be read.
func kernelHZ(release string) *int {
	text, err := os.ReadFile("/boot/config-" + release)
	if err != nil {
		if text, err = gunzip("/proc/config.gz"); err != nil {
			return nil
		}
	}
	n, err := strconv.Atoi(firstMatch(`(?m)^CONFIG_HZ=(\d+)$`, string(text)))
	if err != nil {
		return nil
	}
	return &n
}

func gunzip(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, 16<<20))
}

// cgroupVersion tells "v2", "v1", "hybrid" (v1 controllers beside a v2
// hierarchy) or "" from the mounts, as cgroups(7) names their types.
func cgroupVersion() string {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return ""
	}
	var v1, v2 bool
	for line := range bytes.Lines(mounts) {
		if f := bytes.Fields(line); len(f) > 2 {
			v1 = v1 || string(f[2]) == "cgroup"
			v2 = v2 || string(f[2]) == "cgroup2"
		}
	}
	switch {
	case v1 && v2:
		return "hybrid"
	case v1:
		return "v1"
	case v2:
		return "v2"
	}
	return ""
}
