package cgroup

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
)

// The weights that runtimes give to a container, by opencontainers/cgroups 0.0.4 (runc 1.3)
// and 0.1.0 (runc 1.5).
func TestRequests(t *testing.T) {
	for _, tt := range []struct{ cpus, shares, linear, quadratic int64 }{
		{1, 1024, 39, 100},
		{2, 2048, 79, 174},
		{3, 3072, 118, 240},
		{4, 4096, 157, 303},
		{8, 8192, 313, 532},
		{64, 65536, 2500, 3023},
	} {
		if got := Requests(V1, tt.shares); !slices.Equal(got, []float64{float64(tt.cpus)}) {
			t.Errorf("v1, %d: got %v", tt.shares, got)
		}
		if shares := Shares(1000 * tt.cpus); shares != tt.shares || Weight(shares) != tt.quadratic {
			t.Errorf("a request of %d: %d shares, a weight of %d", tt.cpus, shares, Weight(shares))
		}
		for i, weight := range []int64{tt.linear, tt.quadratic} {
			got := Requests(V2, weight)
			if len(got) != 2 || int64(math.Ceil(got[i])) != tt.cpus || float64(tt.cpus)-got[i] > 0.03 {
				t.Errorf("a weight of %d: got %v, want hardly less than %d of the two by rule %d", weight, got, tt.cpus, i)
			}
			if len(got) == 2 && got[1] > got[0] {
				t.Errorf("a weight of %d: got %v, want the higher one first", weight, got)
			}
		}
	}
	for _, none := range [][]float64{Requests(V1, 2), Requests(V2, 1), Requests(V2, 0)} {
		if none != nil {
			t.Errorf("the lowest weight: got %v", none)
		}
	}
}

func TestCPURequests(t *testing.T) {
	_, root := openFixture(t, "nested-limits")
	g, err := NewFS(root).Self()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "/sys/fs/cgroup/a/b/c/cpu.weight")
	if got := g.CPURequests(); got.State() != Absent {
		t.Errorf("without the file: got %v", got)
	}
	writeFile(t, file, []byte("1\n"), false)
	if got := g.CPURequests(); got.State() != Absent {
		t.Errorf("the lowest weight: got %v", got)
	}
	writeFile(t, file, []byte("79\n"), false)
	if got, _ := g.CPURequests().Get(); !slices.Equal(got, Requests(V2, 79)) {
		t.Errorf("got %v", got)
	}
	writeFile(t, file, []byte("x\n"), false)
	if got := g.CPURequests(); got.State() != Unreadable {
		t.Errorf("got %v", got)
	}
}

// The bounds of the kernel: MinShares and MaxShares of kubelets, and cpu.weight from 1 to 10000.
func TestWeightsAreBounded(t *testing.T) {
	for _, tt := range []struct{ millis, shares, weight int64 }{{0, 2, 1}, {1, 2, 1}, {500, 512, 59}, {1_000_000, 1 << 18, 10000}} {
		if shares := Shares(tt.millis); shares != tt.shares || Weight(shares) != tt.weight {
			t.Errorf("%dm: %d shares, a weight of %d, want %d and %d", tt.millis, shares, Weight(shares), tt.shares, tt.weight)
		}
	}
}
