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
		{"Polars", map[string]string{"OMP_NUM_THREADS": "8"}, map[string]string{"POLARS_MAX_THREADS": "1"}, true},
		{"Polars", map[string]string{"POLARS_MAX_THREADS": "1"}, map[string]string{"POLARS_MAX_THREADS": "1"}, false},
		{"DuckDB", map[string]string{"OMP_NUM_THREADS": "8"}, map[string]string{}, false},
		{"", nil, map[string]string{}, false},
	} {
		env, ok := Setting(test.library, test.env, 1, 8, 8)
		if !maps.Equal(env, test.want) || ok != test.ok {
			t.Errorf("%s with %v: %v, %v", test.library, test.env, env, ok)
		}
	}
}

// Fewer threads than the variable says are those of OpenBLAS on few CPUs, and else of the code.
func TestSettingOnFewCPUs(t *testing.T) {
	for _, test := range []struct {
		library       string
		threads, cpus int
		ok            bool
	}{
		{"OpenBLAS", 2, 2, true},
		{"OpenBLAS", 2, 4, false},
		{"OpenBLAS", 2, 0, false},
		{"OpenBLAS", 1, 2, false},
		{"OpenMP", 2, 2, false},
	} {
		present := map[string]string{"OPENBLAS_NUM_THREADS": "8", "OMP_NUM_THREADS": "8"}
		if env, ok := Setting(test.library, present, 1, test.threads, test.cpus); ok != test.ok {
			t.Errorf("%+v: %v, %v", test, env, ok)
		}
	}
}

// The file of Polars 1.18, and that of releases which have a package for it.
func TestOf(t *testing.T) {
	for file, want := range map[string]string{
		"/venv/polars/polars.abi3.so": "Polars", "/venv/_polars_runtime_32/_polars_runtime.abi3.so": "Polars",
		"/venv/numpy.libs/libscipy_openblas64_-1.so": "OpenBLAS", "/usr/lib/libpolars.so": "",
		"/venv/duckdb/duckdb.cpython-311-x86_64-linux-gnu.so": "DuckDB", "/usr/lib/libduckdb.so": "DuckDB",
	} {
		if library := Of([]string{"/lib/libc.so.6", file}); library != want {
			t.Errorf("%s: %q, want %q", file, library, want)
		}
	}
}
