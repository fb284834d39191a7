package try

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/front/inputs"
)

func TestTurnsFollowTheWeights(t *testing.T) {
	l := &experiment.Load{Mix: []experiment.Request{{Path: "/a", Weight: 3}, {Path: `/{{"{{"}}b`, Headers: map[string]string{"A": `{{"{{"}}`}}, {Path: "/c", Weight: 6}}}
	l.Request = l.Mix[0]
	seen := map[string]int{}
	for n := range 1000 {
		r := turn(l, n).Request
		seen[r.Path]++
		if r.Path == "/{{b" && r.Headers["A"] != "{{" {
			t.Fatalf("%+v", r)
		}
	}
	for path, want := range map[string]int{"/a": 300, "/{{b": 100, "/c": 600} {
		if got := seen[path]; got < want-5 || got > want+5 {
			t.Errorf("%s: %d of 1000 turns, want %d", path, got, want)
		}
	}
	if first := turn(l, 0).Request.Path; first != "/a" {
		t.Error(first)
	}
	if single := (&experiment.Load{}); turn(single, 5) != single {
		t.Error("a load without a mix is another one")
	}
}

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
