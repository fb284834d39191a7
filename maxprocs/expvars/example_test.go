package expvars_test

import (
	"encoding/json"
	"expvar"
	"fmt"

	_ "github.com/millicore/millicore/maxprocs/expvars"
)

// The import publishes the figures, which /debug/vars then has under "maxprocs".
func Example() {
	fmt.Println(json.Valid([]byte(expvar.Get("maxprocs").String())))
	// Output: true
}
