// Package mathlib is the table of libraries of linear algebra, OpenMP, Polars and DuckDB: the files by
// which they are found, and what sets the number of their threads. It is pure.
package mathlib

import (
	"path"
	"slices"
	"strconv"
)

// library is a library that computes with threads of its own, as many as the host has
// CPUs. They wait for each other many times in each operation, and spin or yield
// meanwhile.
type library struct {
	name  string
	files []string // base names, as in path.Match
	// env are the variables that set the number of its threads; the first that is set counts,
	// and the last is the one to set. Without any the number is set in code, as code says.
	env  []string
	code string
}

// table is the table of them. One that is loaded beside OpenMP comes before it.
// Their documentation names the variables: "Setting the number of threads at runtime" of
// OpenBLAS, "Techniques to Set the Number of Threads" of oneMKL, docs/Multithreading.md of
// BLIS; polars.thread_pool_size of Polars, which reads its variable when it is imported; "Configuration" of DuckDB.
var table = []library{
	{"Polars", []string{"polars.abi3.so", "_polars_runtime*"}, []string{"POLARS_MAX_THREADS"}, ""},
	{"DuckDB", []string{"duckdb.cpython-*", "_duckdb.cpython-*", "libduckdb*"}, nil, "DuckDB's SET threads = N"},
	{"oneMKL", []string{"libmkl_*"}, []string{"MKL_NUM_THREADS", openMP}, ""},
	{openBLAS, []string{"libopenblas*", "libscipy_openblas*"}, []string{"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", openMP}, ""},
	{"BLIS", []string{"libblis*"}, []string{"BLIS_NUM_THREADS", openMP}, ""},
	{"OpenMP", []string{"libgomp*", "libiomp5*", "libomp.so*", "libomp-*"}, []string{openMP}, ""},
}

// openBLAS starts no more threads than the process has CPUs.
const openBLAS = "OpenBLAS"

// openMP is the variable that all of them read but Polars and DuckDB.
const openMP = "OMP_NUM_THREADS"

// Of is the first of these libraries among the files that a process has mapped; "": none.
func Of(files []string) string {
	for _, library := range table {
		if slices.ContainsFunc(files, library.matches) {
			return library.name
		}
	}
	return ""
}

func (l library) matches(file string) bool {
	return slices.ContainsFunc(l.files, func(pattern string) bool {
		ok, err := path.Match(pattern, path.Base(file))
		return ok && err == nil
	})
}

// Declared is the number of threads of a library by the present variables; 0: none of them
// sets it, and the library has as many as it sees CPUs.
func Declared(name string, present map[string]string) int {
	for _, library := range table {
		if library.name != name {
			continue
		}
		for _, variable := range library.env {
			if n, err := strconv.Atoi(present[variable]); err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}

// Setting returns the variables with which a library has n threads, given the present ones:
// its last one, and those that override it where they are set. ok is false if it has none,
// or if the variables have these values already or name more threads than the process has
// (threads; 0: not known): then its code sets another number.
//
// OpenBLAS starts no more threads than cpus, those of the process (0: not known), whatever its
// variable says: 2 on 2 CPUs with 8.
func Setting(name string, present map[string]string, n, threads, cpus int) (env map[string]string, ok bool) {
	value := strconv.Itoa(n)
	env = map[string]string{}
	least := Declared(name, present)
	if name == openBLAS && cpus > 0 {
		least = min(least, cpus)
	}
	if threads > 0 && threads < least {
		return env, false
	}
	for _, library := range table {
		if library.name != name {
			continue
		}
		for i, variable := range library.env {
			old, set := present[variable]
			if set || i == len(library.env)-1 {
				env[variable], ok = value, ok || old != value
			}
		}
	}
	return env, ok
}

// Hint is where the number of threads is set, of a library that has no variable or for one that is
// not known, given the variables that are set.
func Hint(name string, present map[string]string) string {
	for _, library := range table {
		if library.name == name && library.code != "" {
			return library.code
		}
	}
	if n, set := present[openMP]; set {
		return openMP + "=" + n + " is set, which code can override, as with threadpoolctl or torch.set_num_threads"
	}
	return openMP + " sets that of most"
}
