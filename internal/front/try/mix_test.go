package try

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/front/inputs"
)

// The requests of an input are those of the experiment, with the headers of --header. Its file
// has no secrets.
func TestAnInputIsTried(t *testing.T) {
	in, err := (&inputs.Flags{Curl: []string{"curl http://a/x -H 'Authorization: Bearer geheim' -H 'A: b'", "curl http://b/y"}}).Read()
	if err != nil {
		t.Fatal(err)
	}
	a := testAsk("./server")
	a.Input, a.Request.Headers = in, map[string]string{"a": "c"}
	e, err := file.Build(a.Name(), a.Settings(AsItIs(a)), nil)
	if err != nil {
		t.Fatal(err)
	}
	mix := e.Cells[0].Load.Mix
	if len(mix) != 1 || mix[0].Path != "/x" || mix[0].Headers["a"] != "c" || mix[0].Headers["Authorization"] != "Bearer geheim" {
		t.Errorf("%+v", mix)
	}
	if saved, _ := file.Saved(e); strings.Contains(saved, "geheim") || !strings.Contains(saved, "mix: [{") {
		t.Error(saved)
	}
	a.Host = "b"
	if e, err = file.Build(a.Name(), a.Settings(AsItIs(a)), nil); err != nil || e.Cells[0].Load.Mix[0].Path != "/y" {
		t.Error(err)
	}
}
