package mathlib

import (
	"maps"
	"testing"
)

// OMP_NUM_THREADS is set, and each variable that would override it.
func TestSetting(t *testing.T) {
	for _, test := range []struct {
		library string
		env     map[string]string
		want    map[string]string
		ok      bool
	}{
		{"OpenBLAS", nil, map[string]string{"OMP_NUM_THREADS": "1"}, true},
		{"OpenBLAS", map[string]string{"OPENBLAS_NUM_THREADS": "8", "MKL_NUM_THREADS": "8"}, map[string]string{"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}, true},
		{"oneMKL", map[string]string{"MKL_NUM_THREADS": "8"}, map[string]string{"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}, true},
		{"OpenMP", map[string]string{"OMP_NUM_THREADS": "1"}, map[string]string{"OMP_NUM_THREADS": "1"}, false},
		{"OpenMP", map[string]string{"OMP_NUM_THREADS": "9"}, map[string]string{}, false}, // its code sets fewer
		{"", nil, map[string]string{}, false},
	} {
		env, ok := Setting(test.library, test.env, 1, 8)
		if !maps.Equal(env, test.want) || ok != test.ok {
			t.Errorf("%s with %v: %v, %v", test.library, test.env, env, ok)
		}
	}
}
