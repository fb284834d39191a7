package golang

import (
	"net/http"
	"net/http/pprof"
)

// mountProfiles serves the runtime's profiles. The package registers itself on
// http.DefaultServeMux too, which nothing here serves.
func mountProfiles(mux *http.ServeMux) {
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
}
