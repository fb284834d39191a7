package experiment_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

func TestDoubts(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		cpus int
		want []experiment.Doubt
	}{
		"a plausible one": {`services: {s: {command: [./s], env: {GOMAXPROCS: "${procs}"}}}
limits: {cpu: "2"}
vary: {procs: [1, 2, null]}`, 2, nil},
		"thousandths without their m": {`services: {s: {command: [./s]}}
limits: {cpu: "500"}`, 2, []experiment.Doubt{{Path: "limits.cpu", Text: "a limit of 500 CPUs on a host with 2 CPUs; did you mean 500m, thousandths of a CPU?", Wrong: true}}},
		"above the host's CPUs, in some cells": {`services: {s: {command: [./s], env: {A: "${a}"}}}
limits: {cpu: "${limit}"}
vary: {limit: [1, 2500m, 4], a: [x, y]}`, 1, []experiment.Doubt{
			{Path: "limits.cpu", Text: "a limit of 2500m CPUs on a host with 1 CPU has no effect"},
			{Path: "limits.cpu", Text: "a limit of 4 CPUs on a host with 1 CPU has no effect"}}},
		"as many as a large host has": {`services: {s: {command: [./s]}}
limits: {cpu: "128"}`, 128, nil},
		"a host that is not known": {`services: {s: {command: [./s]}}
limits: {cpu: "500"}`, 0, nil},
		"none among numbers": {`services: {s: {command: [./s, "${procs}"]}}
vary: {procs: [1, none]}`, 2, []experiment.Doubt{{Path: "vary.procs", Text: `"none" among numbers is passed to the service as a word; null leaves the value unset`}}},
		"none among words": {`services: {s: {command: [./s, "${encoding}"]}}
vary: {encoding: [none, gzip]}`, 2, nil},
		"Go's setting for Node.js": {`services: {s: {command: [/usr/bin/node, app.js], env: {GOMAXPROCS: 2}}}`, 2, []experiment.Doubt{{Path: "services.s.env.GOMAXPROCS",
			Text: "it is a setting of Go and has no effect on Node.js; Node.js runs JavaScript in one thread: use limits.replicas, or its cluster module"}}},
		"for the sample service in Node.js": {`services: {node: {workload: node, env: {GOGC: 50}}}`, 2, []experiment.Doubt{{Path: "services.node.env.GOGC", Text: "it is a setting of Go and has no effect on Node.js"}}},
		"for Python, with a version": {`services: {s: {command: [python3.12, app.py], env: {GOMAXPROCS: "${procs}"}}}
vary: {procs: [null, 1, 2]}`, 2, []experiment.Doubt{{Path: "services.s.env.GOMAXPROCS", Text: "it is a setting of Go and has no effect on Python; use the number of workers, such as WEB_CONCURRENCY"}}},
		"for a program that is not known": {`services: {s: {command: [./start.sh], env: {GOMAXPROCS: 2}}}`, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := file.Parse("x.yaml", []byte("name: x\nload: {request: {path: /}, users: 1}\n"+c.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, e.Doubts(c.cpus)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is no quantity, and means that there is none, is refused with the way to write it.
func TestNoLimitIsNull(t *testing.T) {
	for _, key := range []string{"cpu", "memory"} {
		_, err := file.Parse("x.yaml", []byte("name: x\nload: {request: {path: /}, users: 1}\nservices: {s: {command: [./s]}}\nlimits: {"+key+": '${limit}'}\nvary: {limit: [512Mi, none]}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), `"none" is not a quantity; for no limit, write null`) {
			t.Errorf("%s: %v", key, err)
		}
	}
}
