package traffic

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/front/inputs"
	"github.com/millicore/millicore/internal/front/reach"
)

// loadWith is a load of 5 users with the requests of some flags.
func loadWith(t *testing.T, flags inputs.Flags) *Options {
	t.Helper()
	o := &Options{Users: 5, Waiting: -1, Duration: 5 * time.Second, Timeout: time.Second, Threads: 1, Inputs: flags}
	if err := o.CheckFiles(); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestTheRequestsOfAnInputAreTheMix(t *testing.T) {
	o := loadWith(t, inputs.Flags{Curl: []string{"curl http://127.0.0.1:8080/a?x={{y}} -g -H 'Cookie: s=1'", "curl 127.0.0.1:8080/b -d '${z}'", "curl http://127.0.0.1:8080/b -d '${z}'"}})
	o.Headers, o.Status = []string{"A: b"}, []string{"200", "304"}
	url := o.URL(nil)
	if url != "http://127.0.0.1:8080/" {
		t.Fatal(url)
	}
	target, err := reach.ParseTarget(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := o.Experiment(target, nil)
	if err != nil {
		t.Fatal(err)
	}
	mix := e.Cells[0].Load.Mix
	if len(mix) != 2 || mix[0].Path != `/a?x={{"{{"}}y}}` || mix[0].Headers["Cookie"] != "s=1" || mix[0].Headers["Host"] != "127.0.0.1:8080" || mix[0].Headers["A"] != "b" || len(mix[0].Check.Status) != 2 {
		t.Errorf("%+v", mix)
	}
	if mix[1].Weight != 2 || mix[1].Body != "${z}" || mix[1].Method != "POST" {
		t.Errorf("%+v", mix[1])
	}
	for _, text := range []string{e.Source, e.Shown().Cells[0].Load.Mix[0].Headers["Cookie"]} {
		if strings.Contains(text, "s=1") {
			t.Errorf("a cookie is shown: %s", text)
		}
	}
	target.Path = "/c"
	if _, err := o.Experiment(target, nil); err == nil || !strings.Contains(err.Error(), "leave out the path") {
		t.Error(err)
	}
}

func TestABodyOfAnInputThatIsNotThereIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "targets")
	if err := os.WriteFile(file, []byte("POST http://h/\n@/no/such/body\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	target, err := reach.ParseTarget("http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loadWith(t, inputs.Flags{Targets: file}).Experiment(target, nil); err == nil || !strings.HasPrefix(err.Error(), "--targets "+file+": ") {
		t.Error(err)
	}
	if url := loadWith(t, inputs.Flags{Curl: []string{"curl http://h/ "}}).URL([]string{"given"}); url != "given" {
		t.Error(url)
	}
}

// An input of the largest size is built in seconds.
func TestManyRequests(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		b.WriteString(`{"path": "/items/` + strconv.Itoa(i) + `", "headers": {"Cookie": "s=1", "Accept": "text/html"}}` + "\n")
	}
	file := filepath.Join(t.TempDir(), "many")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	target, err := reach.ParseTarget("http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	e, err := loadWith(t, inputs.Flags{Mix: file}).Experiment(target, nil)
	if err != nil || len(e.Cells[0].Load.Mix) != 10_000 {
		t.Fatal(err)
	}
	t.Logf("%d requests in %v", len(e.Cells[0].Load.Mix), time.Since(began).Round(time.Millisecond))
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}
