package inspect

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/caches"
	"github.com/millicore/millicore/test/testkit"
)

// link makes a symbolic link.
func (h tree) link(target, name string) {
	h.t.Helper()
	path := filepath.Join(h.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		h.t.Fatal(err)
	}
}

func TestWhereAndOnWhichPort(t *testing.T) {
	h := newTree(t)
	h.group("/a", 1, 100, 10)
	h.process(10, 1, "a", "/a", "/app/server", "./server", "--listen", "127.0.0.1:8080", "--db", "5432", "--metrics=9090")
	h.link("/srv/app", "proc/10/cwd")
	h.write("proc/10/net/tcp", "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"+
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 777 1 x\n"+
		"   1: 0100007F:2382 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 778 1 x\n"+
		"   2: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 779 1 x\n")
	h.link("net:[1]", "proc/10/ns/net")
	h.link("socket:[777]", "proc/10/fd/3")
	h.link("socket:[778]", "proc/10/fd/4") // 779, the database's, is another process's
	p := h.scan(Only{}).Processes[0]
	if p.Exe != "/app/server" || p.Folder != "/srv/app" || p.Port != 8080 {
		t.Errorf("got %q, %q, %d", p.Exe, p.Folder, p.Port)
	}
}

// A process without a port has nothing to load; what cannot be read is not known.
func TestWhetherAProcessListens(t *testing.T) {
	const table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 777 1 x\n"
	yes, no := true, false
	for _, test := range []struct {
		name, table, socket string
		want                *bool
	}{
		{"its own socket", table, "socket:[777]", &yes},
		{"another process's", table, "socket:[778]", &no},
		{"none", strings.SplitAfter(table, "\n")[0], "socket:[777]", &no},
		{"a table that cannot be read", "", "socket:[777]", nil},
	} {
		h := newTree(t)
		h.group("/a", 1, 100, 10)
		h.process(10, 1, "a", "/a", "/app/server", "./server")
		if test.table != "" {
			h.write("proc/10/net/tcp", test.table)
		}
		h.link("net:[1]", "proc/10/ns/net")
		h.link(test.socket, "proc/10/fd/3")
		if got := h.scan(Only{}).Processes[0].Listens; (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestGunicornsConfiguration(t *testing.T) {
	for _, test := range []struct {
		name, file, text, args, want string
	}{
		{"the default", "srv/gunicorn.conf.py", "bind = ':80'\nworkers = 2\n", "", "/srv/gunicorn.conf.py"},
		{"without workers", "srv/gunicorn.conf.py", "# workers = 2\n", "", ""},
		{"none", "srv/other.py", "workers = 2\n", "", ""},
		{"by its name", "etc/g.py", "workers=2\n", "/etc/g.py", "/etc/g.py"},
		{"relative", "srv/g.py", "workers=2\n", "g.py", "/srv/g.py"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newTree(t)
			h.group("/a", 1, 100, 10)
			args := []string{"/venv/bin/python3.11", "/venv/bin/gunicorn", "app:app"}
			if test.args != "" {
				args = append(args, "-c", test.args)
			}
			h.process(10, 1, "gunicorn", "/a", "/usr/bin/python3.11", args...)
			h.link("/srv", "proc/10/cwd")
			h.write("proc/10/root/"+test.file, test.text)
			if got := h.scan(Only{}).Processes[0].Config; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A file that takes the number from the variable does not override it.
func TestPumasConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"threads 1, 5\nworkers 2\n":                      "/srv/config/puma.rb",
		"  workers(Integer(2))\n":                        "/srv/config/puma.rb",
		"# workers 2\nworkers_timeout 3\n":               "",
		"workers ENV.fetch(\"WEB_CONCURRENCY\") { 2 }\n": "",
		"workers Integer(ENV['WEB_CONCURRENCY'] || 2)\n": "",
	} {
		h := newTree(t)
		h.group("/a", 1, 100, 10)
		h.process(10, 1, "puma", "/a", "/usr/bin/ruby3.1", "puma 6.4.2 (tcp://0.0.0.0:3000) [shop]")
		h.link("/srv", "proc/10/cwd")
		h.write("proc/10/root/srv/config/puma.rb", text)
		if got := h.scan(Only{}).Processes[0].Config; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// perfEntry is an entry of HotSpot's performance data.
func perfEntry(name string, kind byte, value []byte) []byte {
	at := 20 + len(name) + 1
	for at%8 != 0 {
		at++
	}
	e := make([]byte, at+len(value))
	binary.LittleEndian.PutUint32(e, uint32(len(e)))
	binary.LittleEndian.PutUint32(e[4:], 20)
	e[12] = kind
	binary.LittleEndian.PutUint32(e[16:], uint32(at))
	copy(e[20:], name)
	copy(e[at:], value)
	return e
}

func perfData(collector string, young, old int64) []byte {
	long := func(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
	entries := [][]byte{
		perfEntry("sun.gc.generation.0.maxCapacity", 'J', long(young)),
		perfEntry("sun.gc.generation.1.maxCapacity", 'J', long(old)),
		perfEntry("sun.gc.collector.0.name", 'B', append([]byte(collector), 0, 0, 0, 0, 0, 0, 0, 0)),
	}
	data := make([]byte, 32)
	binary.BigEndian.PutUint32(data, 0xcafec0c0)
	data[4], data[5] = 1, 2
	binary.LittleEndian.PutUint32(data[24:], 32)
	binary.LittleEndian.PutUint32(data[28:], uint32(len(entries)))
	return append(data, slices.Concat(entries...)...)
}

func TestParsePerfData(t *testing.T) {
	for _, test := range []struct {
		name string
		data []byte
		want int64
	}{
		{"Serial", perfData("Copy", 40<<20, 80<<20), 120 << 20},
		{"Parallel", perfData("PSScavenge", 40<<20, 80<<20), 120 << 20},
		{"G1", perfData("G1 young collection pauses", 120<<20, 120<<20), 120 << 20},
		{"another format", append([]byte("text"), perfData("Copy", 1, 1)[4:]...), 0},
		{"an impossible size", perfData("Copy", -1, 1), 0},
		{"nothing", nil, 0},
	} {
		if got, ok := caches.JavaHeap(test.data); got != test.want || ok != (test.want > 0) {
			t.Errorf("%s: got %d, %v; want %d", test.name, got, ok, test.want)
		}
	}
	whole := perfData("Copy", 40<<20, 80<<20)
	for n := range whole { // a file that is being written, or forged
		caches.JavaHeap(whole[:n])
		forged := slices.Clone(whole)
		forged[n] = 0xff
		caches.JavaHeap(forged)
	}
}

// A JVM reports its own maximum.
func TestRealHeapOfAJVM(t *testing.T) {
	testkit.Long(t, "a JVM")
	pid := startJava(t, "-Xmx77m")
	s := New("")
	var got *Heap
	testkit.Within(t, time.Minute, "the JVM's performance data", func() bool {
		got = s.javaHeap(pid, os.Geteuid())
		return got != nil
	})
	if got.Max < 77<<20 || got.Max > 80<<20 { // it rounds up
		t.Errorf("got %d bytes, want 77 MiB, rounded up", got.Max)
	}
}

func TestRequests(t *testing.T) {
	for _, test := range []struct {
		version int
		weight  int64
		want    []float64
	}{
		{1, 2, nil}, {1, 256, []float64{0.25}}, {1, 1024, []float64{1}}, {2, 1, nil},
	} {
		if got := requestsOf(test.version, test.weight); !slices.Equal(got, test.want) {
			t.Errorf("v%d, %d: got %v, want %v", test.version, test.weight, got, test.want)
		}
	}
	for cpus, weight := range map[float64]int64{0.25: 10, 1: 39} { // by the linear rule, which rounds down
		if got := requestsOf(2, weight); len(got) != 1 || got[0] < 0.9*cpus || got[0] > 1.1*cpus {
			t.Errorf("v2, %d: got %v, want about %v", weight, got, cpus)
		}
	}
	if got := requestsOf(2, 100); len(got) != 2 || got[1] != 1 {
		t.Errorf("v2, 100: got %v, want both rules", got)
	}
}

// The file runtimeconfig.json is beside the program, or where the command names it.
func TestSettingsOfDotNet(t *testing.T) {
	const text = "\xef\xbb\xbf{\"runtimeOptions\": {\"tfm\": \"net8.0\", \"configProperties\": {\"System.GC.Server\": true, " +
		"\"System.GC.HeapHardLimit\": 209715200, \"System.GC.Name\": \"x\", \"System.Globalization.Invariant\": true}}}"
	want := map[string]string{"System.GC.Server": "true", "System.GC.HeapHardLimit": "209715200", "System.GC.Name": "x"}
	for _, test := range []struct {
		name, exe string
		args      []string
		file      string // with the text
		content   string
		want      string // the file that is read; "": none
		unread    bool
	}{
		{"its own executable", "/srv/My.App", []string{"./My.App"}, "srv/My.App.runtimeconfig.json", text, "/srv/My.App.runtimeconfig.json", false},
		{"by the host", "/usr/bin/dotnet", []string{"dotnet", "App.dll", "Other.dll"}, "srv/App.runtimeconfig.json", text, "/srv/App.runtimeconfig.json", false},
		{"by the host with options", "/usr/bin/dotnet", []string{"dotnet", "exec", "--depsfile", "x.dll", "/opt/App.dll"}, "opt/App.runtimeconfig.json", text, "/opt/App.runtimeconfig.json", false},
		{"another file", "/usr/bin/dotnet", []string{"dotnet", "exec", "--runtimeconfig", "r.json", "App.dll"}, "srv/r.json", text, "/srv/r.json", false},
		{"a command of the SDK", "/usr/bin/dotnet", []string{"dotnet", "run"}, "srv/run.runtimeconfig.json", text, "", false},
		{"none", "/srv/App", []string{"./App"}, "srv/Other.runtimeconfig.json", text, "", false},
		{"malformed", "/srv/App", []string{"./App"}, "srv/App.runtimeconfig.json", "{", "", true},
		{"too large", "/srv/App", []string{"./App"}, "srv/App.runtimeconfig.json", strings.Repeat(" ", 1<<20+1), "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newTree(t)
			h.group("/a", 1, 100, 10)
			h.process(10, 1, "App", "/a", test.exe, test.args...)
			h.write("proc/10/maps", "7f00-7f10 r--p 00000000 fd:01 9 /usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.1/libcoreclr.so\n")
			h.link("/srv", "proc/10/cwd")
			h.write("proc/10/root/"+test.file, test.content)
			p := h.scan(Only{}).Processes[0]
			unread := strings.Contains(strings.Join(p.Unseen, " "), "runtimeconfig.json could not be read") ||
				strings.HasSuffix(p.Refused, "/App.runtimeconfig.json has more than 1048576 bytes")
			switch c := p.RuntimeConfig; {
			case unread != test.unread:
				t.Errorf("unseen: %q", p.Unseen)
			case test.want == "" && c != nil, test.want != "" && (c == nil || c.File != test.want || !maps.Equal(c.Properties, want)):
				t.Errorf("got %+v, want %s", c, test.want)
			}
		})
	}
}

func TestConfigurationOfHAProxy(t *testing.T) {
	h := newTree(t)
	h.group("/a", 1, 100, 10)
	h.process(10, 1, "haproxy", "/a", "/usr/sbin/haproxy", "haproxy", "-f", "none.cfg", "-f", "a.cfg", "-f", "/etc/b.cfg")
	h.link("/srv", "proc/10/cwd")
	h.write("proc/10/root/srv/a.cfg", "defaults\n mode http\n # nbthread 3\n")
	if got := h.scan(Only{}).Processes[0].Config; got != "/srv/a.cfg" {
		t.Errorf("without nbthread: got %q, want the first file", got)
	}
	h.write("proc/10/root/etc/b.cfg", "global\n\tnbthread 2\n")
	if got := h.scan(Only{}).Processes[0].Config; got != "/etc/b.cfg" {
		t.Errorf("got %q, want the file with nbthread", got)
	}
}
