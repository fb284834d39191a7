package experiment_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/file"
)

const supplied = `
name: supplied
services: {a: {command: [./a], env: {N: "${n}"}}, b: {command: [./b]}}
vary: {n: [1, 2]}
load:
  mix:
    - {path: /free, weight: 3}
    - {path: /put, method: POST, body_file: body.bin, auth: {basic_env: WHO}}
    - {path: /get, auth: {bearer_env: TOKEN}}
    - {path: /empty, body_file: nothing}
  users: 4
`

// least is an experiment without anything optional.
const least = `
name: least
services: {server: {command: [./server]}}
load: {request: {path: /}, users: 1}
`

// parse reads an experiment that is right.
func parse(t testing.TB, text string, sets ...string) *experiment.Experiment {
	t.Helper()
	e, err := file.Parse("test.yaml", []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func gathered(t *testing.T) *experiment.Experiment {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string]string{"body.bin": "\x00{{seq}}\xff", "nothing": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := parse(t, supplied)
	if err := e.Gather(dir, func(name string) string { return map[string]string{"WHO": "me:secret", "TOKEN": "t0ken"}[name] }); err != nil {
		t.Fatal(err)
	}
	return e
}

// What was gathered where the files are is there where they are not.
func TestSealedSuppliesComeBack(t *testing.T) {
	e := gathered(t)
	data, err := json.Marshal(e.Seal())
	if err != nil {
		t.Fatal(err)
	}
	var sealed experiment.Sealed
	if err := json.Unmarshal(data, &sealed); err != nil {
		t.Fatal(err)
	}
	if len(sealed.Supplies) != 3 {
		t.Errorf("%d supplies are sealed; want each of 3 once", len(sealed.Supplies))
	}
	got := parse(t, supplied)
	if err := got.Unseal(sealed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, got); diff != "" {
		t.Errorf("experiment (-want +got):\n%s", diff)
	}
	record, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"t0ken", "secret", "bWU6c2VjcmV0"} {
		if strings.Contains(string(record), secret) {
			t.Errorf("the record holds %q", secret)
		}
	}
}

func TestAnExperimentWithoutSuppliesSealsNothing(t *testing.T) {
	e := parse(t, least)
	data, err := json.Marshal(e.Seal())
	if err != nil || string(data) != "{}" {
		t.Errorf("%s, %v", data, err)
	}
	if err := e.Unseal(experiment.Sealed{}); err != nil {
		t.Error(err)
	}
}

func TestWhatWasSealedForAnotherExperiment(t *testing.T) {
	sealed := gathered(t).Seal()
	other := sealed
	other.Requests = [][]int{{1, 1, 1, 1}}
	for want, c := range map[string]struct {
		text   string
		sealed experiment.Sealed
	}{
		"request POST /put: the sealed supplies have no body":   {supplied, experiment.Sealed{}},
		"request GET /free: the sealed supplies have more than": {supplied, other},
		"cell 0: request GET /: the sealed supplies have more":  {least, other},
	} {
		err := parse(t, c.text).Unseal(c.sealed)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "t0ken") {
			t.Errorf("%v; want in it: %s", err, want)
		}
	}
}

func TestLimitVars(t *testing.T) {
	for _, c := range []struct {
		limits experiment.Limits
		want   map[string]string
	}{
		{experiment.Limits{}, map[string]string{}},
		{experiment.Limits{CPUMillis: 250}, map[string]string{experiment.LimitCPU: "1"}},
		{experiment.Limits{CPUMillis: 2000, Memory: 1 << 30}, map[string]string{experiment.LimitCPU: "2", experiment.LimitMemory: "1073741824"}},
		{experiment.Limits{CPUMillis: 2001}, map[string]string{experiment.LimitCPU: "3"}},
	} {
		if diff := cmp.Diff(c.want, experiment.LimitVars(c.limits)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.limits, diff)
		}
	}
}

// What is not said of Kubernetes is in no record, and means the same when it is
// read again.
func TestTheUsualOfKubernetesIsNotWritten(t *testing.T) {
	for text, written := range map[string]bool{least: false, least + "kubernetes: {keep: 1h}\n": false, least + "kubernetes: {keep: 0s}\n": true} {
		e := parse(t, text)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `"kubernetes":{`) != written {
			t.Errorf("%s", data)
		}
		var back experiment.Experiment
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, &back); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
