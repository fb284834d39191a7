package file_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

const databases = `
name: databases
services:
  short: {command: [./server], dependencies: [postgres], env: {URL: "${postgres.url}", AT: "${postgres.address}"}}
  long:
    command: [./server, "${mongodb.url}", "${postgres.url}"]
    dependencies:
      - {name: mongodb, limits: {cpu: "${cpu}", memory: 1Gi}, ready_timeout: 1m}
      - {name: postgres, url: "postgres://10.0.0.1/shop"}
  own: {command: [./server, "${postgres.address}"], dependencies: [{name: postgres, command: [./db]}]}
vary: {cpu: [1, 2]}
load: {request: {path: /}, users: 1}
`

func TestBuiltInDatabases(t *testing.T) {
	e := parse(t, databases)
	limits := experiment.Limits{Period: 100 * time.Millisecond, Replicas: 1}
	limited := experiment.Limits{Period: 100 * time.Millisecond, Replicas: 1, Memory: 1 << 30}
	ready := experiment.Ready{Timeout: 30 * time.Second}
	long := func(cpu int64) []experiment.Dependency {
		limited.CPUMillis = cpu
		return []experiment.Dependency{
			{Name: "mongodb", Builtin: experiment.MongoDB, Ready: experiment.Ready{Timeout: time.Minute}, Limits: limited},
			{Name: "postgres", URL: "postgres://10.0.0.1/shop", Ready: ready, Limits: limits},
		}
	}
	want := [][]experiment.Dependency{
		{{Name: "postgres", Builtin: experiment.Postgres, Ready: ready, Limits: limits}},
		long(1000), long(2000),
		{{Name: "postgres", Command: []string{"./db"}, Dir: "dir", Ready: ready, Limits: limits}},
	}
	var got [][]experiment.Dependency
	for _, c := range e.Cells {
		got = append(got, c.Service.Dependencies)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
}

func TestSetGoesIntoABuiltInDatabase(t *testing.T) {
	const yaml = `
name: set
services: {go: {command: [./server, "${postgres.url}"], dependencies: [postgres]}}
load: {request: {path: /}, users: 1}
`
	for set, want := range map[string]experiment.Dependency{
		"limits.cpu=500m":          {Builtin: experiment.Postgres, Limits: experiment.Limits{CPUMillis: 500}},
		"url=postgres://10.0.0.1/": {URL: "postgres://10.0.0.1/"},
	} {
		e, err := file.Parse("dir/set.yaml", []byte(yaml), []string{"services.go.dependencies.0." + set})
		if err != nil {
			t.Errorf("%s: %v", set, err)
			continue
		}
		want.Name, want.Ready.Timeout = "postgres", 30*time.Second
		want.Limits.Period, want.Limits.Replicas = 100*time.Millisecond, 1
		if diff := cmp.Diff(want, e.Cells[0].Service.Dependencies[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", set, diff)
		}
	}
}
