package inspect

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kill is a process that the kernel killed because the memory of its group ran out, from
// the kernel's log.
type Kill struct {
	Ago   time.Duration
	Name  string // the kernel's, 15 bytes at most
	PID   int
	Group string // path below the mount
}

// Restarts is how often a container was restarted.
type Restarts struct {
	Count int
	// OutOfMemory: its previous run ended so, according to the engine.
	OutOfMemory bool
	From        string // who counted, in words
}

// history adds what is known of earlier runs of a process under a memory limit: a group
// that was created again has new counters.
func (s *Scanner) history(p *Process) {
	p.Kills = s.killsOf(p)
	if p.ContainerID == "" {
		return
	}
	if known, ok := s.restarted[p.ContainerID]; ok {
		p.Restarts = known
		return
	}
	p.Restarts = s.restarts(p.ContainerID)
	s.restarted[p.ContainerID] = p.Restarts
}

// killsOf returns the kills in a process's own group and in its pod, the last one first.
func (s *Scanner) killsOf(p *Process) (all []Kill) {
	if s.kills == nil {
		s.kills = parseKills(kernelLog(filepath.Join(s.root, "/dev/kmsg")), s.uptime)
	}
	for _, k := range s.kills {
		if k.Group == p.Memory.Group || p.Pod != "" && (containers{}).of("0::"+k.Group).pod == p.Pod {
			all = append(all, k)
		}
	}
	return all
}

var (
	// killed is a record of mm/oom_kill.c (dump_oom_victim), since Linux 5.0.
	killed  = regexp.MustCompile(`oom-kill:constraint=CONSTRAINT_MEMCG,.*task_memcg=(/[^,]*),task=(.*),pid=(\d+),uid=`)
	escaped = regexp.MustCompile(`\\x[0-9a-f]{2}`)
)

// parseKills parses records of /dev/kmsg: priority, number, microseconds since the boot
// and flags, then the text, in which other than printable characters and the backslash are
// escaped (Documentation/ABI/testing/dev-kmsg). The last kill is the first of the result,
// which is never nil.
//
//	6,1207,90000000,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,task=python3,pid=123,uid=0
func parseKills(text []byte, uptime time.Duration) []Kill {
	all := []Kill{}
	for line := range strings.Lines(string(text)) {
		head, record, _ := strings.Cut(line, ";")
		found := killed.FindStringSubmatch(record)
		fields := strings.Split(head, ",")
		if found == nil || len(fields) < 3 {
			continue
		}
		at, err := strconv.ParseInt(fields[2], 10, 64)
		pid, err2 := strconv.Atoi(found[3])
		if err != nil || err2 != nil || at < 0 || at > int64(uptime/time.Microsecond) {
			continue
		}
		plain := func(s string) string {
			return escaped.ReplaceAllStringFunc(s, func(c string) string {
				n, _ := strconv.ParseUint(c[2:], 16, 8)
				return string([]byte{byte(n)})
			})
		}
		all = append(all, Kill{Ago: uptime - time.Duration(at)*time.Microsecond, Group: plain(found[1]), Name: plain(found[2]), PID: pid})
	}
	slices.Reverse(all)
	return all
}

// restarts reads how often a container was restarted: from the kubelet's log files, which
// are numbered by the restarts, or from the engine; nil if neither knows it.
func (s *Scanner) restarts(id string) *Restarts {
	if target := s.kubeletLog(id); target != "" {
		if n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(target), ".log")); err == nil && n >= 0 {
			return &Restarts{Count: n, From: "the kubelet's log files"}
		}
	}
	for _, socket := range s.engines() {
		if s.names[id] == "" {
			break // the engines that answer do not know it
		}
		answer, err := ask(filepath.Join(s.root, socket), "/containers/"+id+"/json")
		if err != nil {
			continue
		}
		r, err := parseRestarts(io.LimitReader(answer, maxAnswer))
		answer.Close()
		if err == nil {
			r.From = "the container engine"
			return r
		}
	}
	return nil
}

// kubeletLog is where the kubelet's link to a container's log leads:
// /var/log/containers/POD_NAMESPACE_NAME-ID.log -> /var/log/pods/…/NAME/RESTARTS.log. It is
// "" if there is none.
func (s *Scanner) kubeletLog(id string) (target string) {
	if links, _ := filepath.Glob(filepath.Join(s.root, "/var/log/containers/*-"+id+".log")); len(links) == 1 && id != "" {
		target, _ = os.Readlink(links[0])
	}
	return target
}

// inPod is the namespace and the name of a container's pod and the container's name there, from
// the kubelet's log files (/var/log/pods/NAMESPACE_POD_UID/NAME/0.log) or from Docker's name for
// it, k8s_NAME_POD_NAMESPACE_…; "": not known.
func (s *Scanner) inPod(id string) (namespace, pod, name string) {
	if dir, file := filepath.Split(s.kubeletLog(id)); file != "" && dir != "" {
		namespace, pod, _ = strings.Cut(filepath.Base(filepath.Dir(filepath.Clean(dir))), "_")
		pod, _, _ = strings.Cut(pod, "_")
		return namespace, pod, filepath.Base(dir)
	}
	if parts := strings.Split(s.names[id], "_"); len(parts) > 3 && parts[0] == "k8s" {
		return parts[3], parts[2], parts[1]
	}
	return "", "", ""
}

// parseRestarts parses the engine's answer about a container. The counter is of restarts by
// the engine itself; it starts again with each start by a user.
//
//	{"RestartCount": 2, "State": {"OOMKilled": true, …}, …}
func parseRestarts(r io.Reader) (*Restarts, error) {
	var container struct {
		RestartCount *int
		State        struct{ OOMKilled bool }
	}
	if err := json.NewDecoder(r).Decode(&container); err != nil {
		return nil, err
	}
	if container.RestartCount == nil {
		return nil, errors.New("the engine does not count restarts")
	}
	return &Restarts{Count: *container.RestartCount, OutOfMemory: container.State.OOMKilled}, nil
}
