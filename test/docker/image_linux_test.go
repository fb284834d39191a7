package docker

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/front/try"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/test/dockerd"
	"github.com/millicore/millicore/test/testkit"
)

// tried is the answer of try --json.
type tried struct {
	Verdict  string
	Cells    []summary.Cell
	Image    try.Image
	Runtime  runtimes.Info
	Variants []try.Variant
}

// nginxImage is Debian's package, with its own configuration, which listens on port 80.
func nginxImage(t *testing.T) string {
	const name = "millicore-test:nginx"
	if _, err := exec.LookPath("nginx"); err != nil {
		testkit.Missing(t, "nginx is not installed; scripts/setup-tests.sh installs it")
	}
	bench.Image(t, name, dockerd.Root{
		Programs: []string{"/usr/sbin/nginx"},
		Paths:    []string{"/etc/nginx", "/etc/passwd", "/etc/group"},
		Except:   regexp.MustCompile("modules-enabled/"),
		Texts:    map[string]string{"/var/www/html/index.html": strings.Repeat("A page of nginx. ", 40)},
		Folders:  []string{"/var/log/nginx", "/var/lib/nginx", "/run", "/tmp"},
	}, `CMD ["nginx", "-g", "daemon off;"]`, "ENV PATH=/usr/sbin:/usr/bin", "EXPOSE 80")
	return name
}

// app is a service in Python's standard library, which says nothing of its port: it is found.
const app = `
import http.server, os, sys

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = ("%d\n" % sum(i * i for i in range(20000))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass

class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

open("/tmp/started", "a").write(" ".join(sys.argv[1:]) + os.environ.get("GREETING", "") + "\n")
Server(("", 5000), Handler).serve_forever()
`

// pythonImage is Debian's Python with that service, as a user without rights, with a
// HEALTHCHECK and without EXPOSE.
func pythonImage(t *testing.T) string {
	const name = "millicore-test:python"
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		testkit.Missing(t, "Debian's python3 is not installed; scripts/setup-tests.sh installs it")
	}
	bench.Image(t, name, dockerd.Root{
		Programs: []string{"/usr/bin/python3"},
		Paths:    pythonLibrary(t),
		Except:   regexp.MustCompile("/(dist-packages|site-packages|test|idlelib|tkinter|config-[^/]*|ensurepip|__pycache__|pydoc_data|lib2to3)$"),
		Texts:    map[string]string{"/app/app.py": app},
		Folders:  []string{"/tmp"},
	}, `ENTRYPOINT ["/usr/bin/python3", "/app/app.py"]`, "USER 1000:1000",
		`HEALTHCHECK --timeout=5s CMD ["/usr/bin/python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:5000/')"]`)
	return name
}

// pythonLibrary is the folder of Python's standard library.
func pythonLibrary(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("/usr/bin/python3", "-c", "import os; print(os.path.dirname(os.__file__))").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{strings.TrimSpace(string(out))}
}

// tryImage tries an image and returns the answer.
func tryImage(t *testing.T, image string, args ...string) (*tried, string) {
	t.Helper()
	c := exec.Command(filepath.Join(bench.Programs(), "millicore"), append([]string{"try", "--image", image, "--json"}, args...)...)
	c.Dir = t.TempDir()
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	answer := testkit.Answer[tried](t, err, out, errs.String())
	bench.NothingLeft(t)
	return answer, errs.String()
}

// breaks checks that a cell has a breaking point.
func breaks(t *testing.T, c *summary.Cell) {
	t.Helper()
	if c.Breaking == nil || c.Breaking.Load() == nil || *c.Breaking.Load() < 10 {
		t.Errorf("%s has no breaking point: %+v", c.Label, c.Breaking)
	}
}

func TestDebiansNginxIsTriedAsAnImage(t *testing.T) {
	image := nginxImage(t)
	saved := filepath.Join(t.TempDir(), "nginx.yaml")
	got, said := tryImage(t, image, "--cpu", "200m", "--as-is", "--traffic", "20s", "--save", saved)
	breaks(t, &got.Cells[0])
	if got.Runtime.Runtime != runtimes.Nginx || got.Runtime.Version == "" || got.Image.Port != 80 || len(got.Cells) != 1 {
		t.Errorf("runtime %+v, image %+v, %d cells", got.Runtime, got.Image, len(got.Cells))
	}
	if c := got.Cells[0]; c.Limits.CPUMillis == nil || *c.Limits.CPUMillis != 200 || c.CPU.ThrottledPeriods == nil || *c.CPU.ThrottledPeriods == 0 {
		t.Errorf("limits %+v, CPU %+v: it was not throttled", c.Limits, c.CPU)
	}
	if want := "runs nginx -g 'daemon off;' and listens on port 80 (EXPOSE)."; !strings.Contains(strings.Join(strings.Fields(said), " "), want) {
		t.Errorf("%s\nwant in it: %s", said, want)
	}
	if text := text(t, saved); !strings.Contains(text, "image: \""+image+"\"") || !strings.Contains(text, "port: 80") {
		t.Errorf("saved:\n%s", text)
	}
	s, _ := run(t, "docker", saved, "--set", "measure.duration=10s")
	breaks(t, &s.Cells[0])
}

func TestAPythonImageIsTriedWithWhatDockerRunWouldGiveIt(t *testing.T) {
	image := pythonImage(t)
	t.Setenv("GREETING", "hello")
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	got, said := tryImage(t, image, "--cpu", "500m", "--as-is", "--traffic", "20s", "-e", "GREETING", "-v", folder+":/tmp", "--", "one", "two")
	breaks(t, &got.Cells[0])
	if got.Runtime.Runtime != runtimes.Python || got.Image.Port != 5000 || got.Image.Info.User != "1000:1000" {
		t.Errorf("runtime %+v, image %+v", got.Runtime, got.Image)
	}
	for _, want := range []string{"as user 1000:1000 and listens on port 5000 (found)", "ready when its HEALTHCHECK succeeds"} {
		if !strings.Contains(strings.Join(strings.Fields(said), " "), want) {
			t.Errorf("%s\nwant in it: %s", said, want)
		}
	}
	if started := text(t, folder, "started"); !strings.HasPrefix(started, "one twohello\n") {
		t.Errorf("it got %q", started)
	}
}

func TestImagesThatCannotBeTried(t *testing.T) {
	bench.Need(t)
	bench.Image(t, "millicore-test:sick", dockerd.Root{Programs: []string{"/usr/sbin/nginx"}, Paths: []string{"/etc/nginx", "/etc/passwd", "/etc/group"},
		Except: regexp.MustCompile("modules-enabled/"), Folders: []string{"/var/log/nginx", "/var/lib/nginx", "/run"}},
		`CMD ["/usr/sbin/nginx", "-g", "daemon off;"]`, `HEALTHCHECK CMD ["/usr/sbin/nginx", "-t", "-c", "/none.conf"]`, "EXPOSE 80")
	bench.Image(t, "millicore-test:empty", dockerd.Root{Texts: map[string]string{"/x": "x"}})
	for _, c := range []struct {
		name string
		code int
		args []string
		want []string
	}{
		{"it is not there", 1, []string{"127.0.0.1:1/nothing:1"}, []string{"docker pull 127.0.0.1:1/nothing:1"}},
		{"it ends at once", 1, []string{dockerd.Image, "--", "--fail"}, []string{"ended with exit status 3", "server: failing as requested"}},
		{"it does not listen", 1, []string{dockerd.Image, "--ready-timeout", "2s", "--", "--startup", "1h"}, []string{"it listens on no TCP port", "--port"}},
		{"it listens on loopback", 1, []string{dockerd.Image, "--ready-timeout", "2s", "--", "--port", "8080"}, []string{"listens only on 127.0.0.1:8080", "0.0.0.0"}},
		{"another port than stated", 1, []string{dockerd.Image, "--ready-timeout", "2s", "-p", "9", "-e", "PORT=8080"}, []string{"it must listen at 1", ":9"}},
		{"its HEALTHCHECK fails", 1, []string{"millicore-test:sick", "--ready-timeout", "3s"}, []string{"its HEALTHCHECK fails: /usr/sbin/nginx -t -c /none.conf: exit status 1", "--ready"}},
		{"it runs nothing", 1, []string{"millicore-test:empty"}, []string{"neither an ENTRYPOINT nor a CMD"}},
		{"a folder that is not there", 2, []string{dockerd.Image, "-v", "./none:/data"}, []string{"no such file or folder"}},
		{"a volume that is not there", 2, []string{dockerd.Image, "-v", "none:/data"}, []string{"docker volume create none"}},
		{"a variable that is not set", 2, []string{dockerd.Image, "-e", "MILLICORE_NOT_SET"}, []string{"MILLICORE_NOT_SET: this variable is not set here"}},
		{"a port that is none", 2, []string{dockerd.Image, "-p", "80:http"}, []string{"HOST:CONTAINER"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := refused(t, c.code, append([]string{"try", "--image"}, c.args...)...)
			for _, want := range c.want {
				if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
					t.Errorf("%s\nwant in it: %s", out, want)
				}
			}
		})
	}
}

// After kill -9 of millicore, clean removes all of it, as the next run would.
func TestAKilledTryOfAnImageIsCleaned(t *testing.T) {
	image := nginxImage(t)
	c := exec.Command(filepath.Join(bench.Programs(), "millicore"), "try", "--image", image, "--out", filepath.Join(t.TempDir(), "record"))
	c.Dir = t.TempDir()
	testkit.Start(t, c)
	testkit.Until(t, "the image runs", func() bool {
		groups, err := bench.Daemon().Groups()
		if err != nil {
			t.Fatal(err)
		}
		return len(groups) > 0
	})
	c.Process.Kill()
	c.Wait()
	out, err := exec.Command(filepath.Join(bench.Programs(), "millicore"), "clean", "--on", "docker").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "removed container millicore-") {
		t.Fatalf("%v\n%s", err, out)
	}
	bench.NothingLeft(t)
}
