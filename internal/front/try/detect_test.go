package try

import (
	"errors"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/host/runtimes"
)

func TestDetectionInPlainWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		info   runtimes.Info
		header string
		want   string
	}{
		{"a version of the answers", runtimes.Info{Runtime: runtimes.Nginx, By: "executable name", Parallelism: runtimes.Parallelism{Value: 2, Source: runtimes.Read}}, "nginx/1.22.1",
			"Detected nginx 1.22.1 (by executable name); parallelism 2 (read)"},
		{"the header of another program", runtimes.Info{Runtime: runtimes.Node, By: "the symbol node::Start of the executable"}, "nginx/1.22.1",
			"Detected Node.js (by the symbol node::Start of the executable)"},
		{"a version that is known", runtimes.Info{Runtime: runtimes.Nginx, Version: "1.24.0", By: "executable name"}, "nginx/1.22.1", "Detected nginx 1.24.0 (by executable name)"},
		{"a header without a version", runtimes.Info{Runtime: runtimes.Nginx, By: "executable name"}, "nginx", "Detected nginx (by executable name)"},
		{"an application server", runtimes.Info{Runtime: runtimes.Python, Version: "3.11", By: "executable name", Server: "gunicorn"}, "gunicorn", "Detected gunicorn on Python 3.11 (by its command and executable name)"},
		{"it was not read in time", runtimes.Info{Runtime: runtimes.Unknown, Refused: "it could not be read within 3s"}, "",
			"The runtime of server is not known, because it could not be inspected: it could not be read within 3s"},
		{"nothing known", runtimes.Info{Runtime: runtimes.Unknown, Program: "server"}, "", "Detected no known runtime of server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			serverVersion(&c.info, c.header)
			if got := Detected(testAsk("/usr/bin/server"), c.info); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// The time for reading a process counts from the first reading: on a busy host it can be
// over although the process is honest.
func TestAProcessThatWasNotReadInTimeIsReadAgain(t *testing.T) {
	late := runtimes.Info{Runtime: runtimes.Unknown, Refused: "it could not be read within 3s"}
	for _, c := range []struct {
		name  string
		found []runtimes.Info
		want  runtimes.Name
		times int
	}{
		{"at once", []runtimes.Info{{Runtime: runtimes.Node}}, runtimes.Node, 1},
		{"the second time", []runtimes.Info{late, {Runtime: runtimes.Node}}, runtimes.Node, 2},
		{"never", []runtimes.Info{late, late}, runtimes.Unknown, 2},
		{"no known runtime", []runtimes.Info{{Runtime: runtimes.Unknown}}, runtimes.Unknown, 1},
	} {
		times := 0
		info := detect(func() (runtimes.Info, error) { times++; return c.found[times-1], nil })
		if info.Runtime != c.want || times != c.times {
			t.Errorf("%s: %s after %d readings, want %s after %d", c.name, info.Runtime, times, c.want, c.times)
		}
	}
	if info := detect(func() (runtimes.Info, error) { return runtimes.Info{}, errors.New("all have ended") }); len(info.Notes) != 1 {
		t.Errorf("of an error %+v, want its reason as a note", info)
	}
}

func TestTheServerIsNamedByWhatEnvStarts(t *testing.T) {
	for command, want := range map[string]string{
		"env PYTHONPATH=/app /opt/bin/hypercorn -w 2 app:asgi": "hypercorn",
		"/usr/bin/env A=1 B=2 server":                          "server",
		"env -i A=1 server":                                    "env",
		"env A=1":                                              "env",
		"env":                                                  "env",
		"/usr/bin/server A=1":                                  "server",
	} {
		if got := testAsk(strings.Fields(command)...).program(); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestAServerIsNamedWithWhatItRunsOn(t *testing.T) {
	python := runtimes.Info{Runtime: runtimes.Python, Version: "3.11", Server: "gunicorn"}
	for _, c := range []struct {
		command string
		info    runtimes.Info
		want    string
	}{
		{"venv/bin/gunicorn", python, "gunicorn (Python 3.11)"},
		{"python", python, "gunicorn on Python 3.11"},
		{"./start.sh", python, "start.sh (gunicorn on Python 3.11)"},
		{"./server", goInfo, "server (Go 1.26.8)"},
		{"nginx", runtimes.Info{Runtime: runtimes.Nginx, Version: "1.22.1"}, "nginx 1.22.1"},
		{"./server", runtimes.Info{Runtime: runtimes.Unknown}, "server"},
	} {
		if got := Describe(testAsk(c.command), c.info); got != c.want {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
}
