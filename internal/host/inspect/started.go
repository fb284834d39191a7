package inspect

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/caches"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// started adds what is needed to start a process under a CPU limit again, and where its
// settings come from.
func (s *Scanner) started(p *Process) {
	p.Exe, _ = os.Readlink(s.path(p.PID, "exe"))
	p.Exe = strings.TrimSuffix(p.Exe, " (deleted)")
	p.Folder, _ = os.Readlink(s.path(p.PID, "cwd"))
	p.Port, p.Listens = s.listens(p.PID, portsIn(p.Command))
	switch p.Info.Server {
	case "gunicorn":
		p.Config = s.gunicornConfig(p)
	case "puma":
		p.Config = s.pumaConfig(p)
	}
	s.inItsPod(p)
	if p.Pod != "" && p.CPU.State == Limited && !p.CPU.Inherited() {
		p.Requests = s.requests(p.CPU)
	}
	if p.Memory.State == Limited {
		p.Cache = s.cache(p)
	}
	switch p.Info.Runtime {
	case runtimes.JVM:
		if p.Memory.State == Limited {
			p.Heap = s.javaHeap(p.PID, p.User)
		}
	case runtimes.DotNet:
		p.RuntimeConfig = s.dotnetConfig(p)
	case runtimes.HAProxy:
		p.Config = s.haproxyConfig(p)
	}
}

// inItsPod adds the names that the kubelet gives a container.
func (s *Scanner) inItsPod(p *Process) {
	if p.Pod == "" {
		return
	}
	namespace, pod, container := s.inPod(p.ContainerID)
	p.Namespace, p.PodContainer = namespace, container
	p.Container = cmp.Or(pod, p.Container) // with the host's network HOSTNAME is that of the node
}

var number = regexp.MustCompile(`\b\d{2,5}\b`)

// portsIn are the numbers in a command that can be ports.
func portsIn(command []string) (ports []int) {
	for _, text := range number.FindAllString(strings.Join(command, " "), 64) {
		if n, err := strconv.Atoi(text); err == nil && n < 1<<16 && !slices.Contains(ports, n) {
			ports = append(ports, n)
		}
	}
	return ports
}

// listens returns the lowest of the ports on which a process listens, and whether it listens
// on any TCP port; nil: not known.
func (s *Scanner) listens(pid int, ports []int) (port int, known *bool) {
	all := s.listening(pid)
	if !all.known {
		return 0, nil
	}
	listens := false
	if len(all.sockets) > 0 {
		err := s.procfs.Sockets(pid, func(inode string) {
			at, ok := all.sockets[inode]
			if listens = listens || ok; ok && slices.Contains(ports, at) && (port == 0 || at < port) {
				port = at
			}
		})
		if err != nil && !listens { // a process that may not be read
			return 0, nil
		}
	}
	return port, &listens
}

// listeners are the listening TCP sockets of a network namespace.
type listeners struct {
	sockets map[string]int // ports by inode
	known   bool           // the table was read
}

// listening reads the listening sockets of a process's network namespace, once per scan:
// the tables of a busy host are long.
func (s *Scanner) listening(pid int) listeners {
	namespace, err := os.Readlink(s.path(pid, "ns/net"))
	if known, ok := s.sockets[namespace]; ok && err == nil {
		return known
	}
	all := listeners{sockets: map[string]int{}}
	for _, name := range []string{"net/tcp", "net/tcp6"} {
		text, err := s.read(pid, name)
		all.known = all.known || err == nil
		_ = proc.ParseInet(bytes.NewReader(text), func(c proc.Socket) bool { // of a malformed table, the lines before the first such
			if c.Listens {
				all.sockets[strconv.FormatUint(c.Inode, 10)] = int(c.Local.Port())
			}
			return true
		})
	}
	if err == nil {
		s.sockets[namespace] = all
	}
	return all
}

// mostConfig bounds the configuration file of a program, in bytes.
const mostConfig = 1 << 20

var workersLine = regexp.MustCompile(`(?m)^workers\s*=`)

// gunicornConfig is the configuration file of a gunicorn that sets workers, as the
// command names it or the default of the working folder; "": none does. Its setting
// overrides WEB_CONCURRENCY (gunicorn's documentation, "Configuration Overview").
func (s *Scanner) gunicornConfig(p *Process) string {
	name := "gunicorn.conf.py"
	args := slices.Concat(strings.Fields(p.Info.Env["GUNICORN_CMD_ARGS"]), p.Command)
	for i, arg := range args {
		switch value, ok := strings.CutPrefix(arg, "--config="); {
		case ok:
			name = value
		case (arg == "-c" || arg == "--config") && i+1 < len(args):
			name = args[i+1]
		}
	}
	name = strings.TrimPrefix(name, "file:")
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.Folder, name)
	}
	file, err := s.procfs.Within(p.PID, name, mostConfig)
	if p.refuse(err) || err != nil || !workersLine.Match(file.Text) {
		return ""
	}
	return name
}

// pumaWorkers is the line of puma's configuration that sets workers, unless it takes the
// number from WEB_CONCURRENCY, as the file that Rails generates does.
var pumaWorkers = regexp.MustCompile(`(?m)^[ \t]*workers[ \t(].*$`)

// pumaConfig is the default configuration file of a puma if it sets workers; "": it does not.
// Its setting overrides WEB_CONCURRENCY. The title of a puma hides the file that its command
// names.
func (s *Scanner) pumaConfig(p *Process) string {
	name := filepath.Join(p.Folder, "config", "puma.rb")
	file, err := s.procfs.Within(p.PID, name, mostConfig)
	if p.refuse(err) || err != nil {
		return ""
	}
	if line := pumaWorkers.Find(file.Text); line == nil || bytes.Contains(line, []byte("WEB_CONCURRENCY")) {
		return ""
	}
	return name
}

var nbthreadLine = regexp.MustCompile(`(?m)^\s*nbthread\s`)

// haproxyConfig is the configuration file of HAProxy that sets nbthread, else the first of
// those that its command names; "": none is a regular file.
func (s *Scanner) haproxyConfig(p *Process) (config string) {
	for i, arg := range p.Command[:max(0, len(p.Command)-1)] {
		if arg != "-f" {
			continue
		}
		name := p.Command[i+1]
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Folder, name)
		}
		file, err := s.procfs.Within(p.PID, name, mostConfig)
		switch {
		case p.refuse(err) || err != nil:
		case nbthreadLine.Match(file.Text):
			return name
		case config == "":
			config = name
		}
	}
	return config
}

// cache reads the setting by which a server bounds its memory; nil: none is known.
func (s *Scanner) cache(p *Process) *caches.Setting {
	const mostNames = 4096
	set, ok := caches.Of(caches.Server{
		Exe: p.Exe, Command: p.Command,
		Read: func(name string) ([]byte, error) {
			file, err := s.procfs.Within(p.PID, name, mostConfig)
			p.refuse(err)
			return file.Text, err
		},
		List: func(name string) ([]string, error) { return s.procfs.List(p.PID, name, mostNames) },
		Maps: func() ([]byte, error) { return s.read(p.PID, "maps") },
	})
	if !ok {
		return nil
	}
	return &set
}

// requests reads the weight of a container's group.
func (s *Scanner) requests(l CPULimit) []float64 {
	name := "cpu.weight"
	if l.Version == 1 {
		name = "cpu.shares"
	}
	text, err := os.ReadFile(filepath.Join(s.root, l.Dir, name))
	if err != nil {
		return nil
	}
	weight, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return nil
	}
	return requestsOf(l.Version, weight)
}

// requestsOf converts the weight of a container's group to the CPU request of Kubernetes, by
// the older of the two conversions of cgroup.Requests, and 100 also by the newer.
func requestsOf(version int, weight int64) []float64 {
	all := cgroup.Requests(cgroup.Version(version), weight)
	switch {
	case len(all) < 2:
		return all
	case weight == 100:
		return []float64{all[0], 1}
	}
	return all[:1]
}
