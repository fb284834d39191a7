package runtimes

import (
	"path"
	"slices"
	"strconv"
)

// mathLibrary is a library that computes with threads of its own, as many as the host has
// CPUs. They wait for each other many times in each operation, and spin or yield
// meanwhile.
type mathLibrary struct {
	name  string
	files []string // base names, as in path.Match
	// env are the variables that set the number of its threads; the first that is set counts.
	env []string
}

// mathLibraries is the table of them. One that is loaded beside OpenMP comes before it.
// Their documentation names the variables: "Setting the number of threads at runtime" of
// OpenBLAS, "Techniques to Set the Number of Threads" of oneMKL, docs/Multithreading.md of
// BLIS.
var mathLibraries = []mathLibrary{
	{"oneMKL", []string{"libmkl_*"}, []string{"MKL_NUM_THREADS", openMP}},
	{"OpenBLAS", []string{"libopenblas*", "libscipy_openblas*"}, []string{"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", openMP}},
	{"BLIS", []string{"libblis*"}, []string{"BLIS_NUM_THREADS", openMP}},
	{"OpenMP", []string{"libgomp*", "libiomp5*", "libomp.so*", "libomp-*"}, []string{openMP}},
}

// openMP is the variable that all of them read.
const openMP = "OMP_NUM_THREADS"

// mathOf is the first of these libraries that a process has loaded; "": none.
func mathOf(e Evidence) string {
	for _, library := range mathLibraries {
		if slices.ContainsFunc(e.Mappings, func(m Mapping) bool { return matches(library.files, path.Base(m.Path)) }) {
			return library.name
		}
	}
	return ""
}

// MathSetting returns the variables with which the library of linear algebra of a process
// has n threads: OMP_NUM_THREADS, and those that override it where they are set. ok is false
// if it has none, or if the variables have these values already: then its code sets another
// number.
func MathSetting(info Info, n int) (env map[string]string, ok bool) {
	value := strconv.Itoa(n)
	env = map[string]string{}
	for _, library := range mathLibraries {
		if library.name != info.Math {
			continue
		}
		for _, name := range library.env {
			present, set := info.Env[name]
			if set || name == openMP {
				env[name], ok = value, ok || present != value
			}
		}
	}
	return env, ok
}
