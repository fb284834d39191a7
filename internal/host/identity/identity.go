// Package identity names services as they are called after a restart, an update and a change
// of their settings too: by their workload, container, unit or command.
package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"

	"github.com/millicore/millicore/internal/host/commandline"
	"github.com/millicore/millicore/internal/host/inspect"
)

// Service names the service that a process belongs to. In Kubernetes that is the workload and the
// container, elsewhere the container or the unit, each with the program; where none of these
// has a name, the program with the shape of its command.
func Service(p *inspect.Process) string {
	program := programOf(p)
	switch {
	case Named(p) && p.Pod != "":
		_, workload := Workload(p.Container)
		return path.Join(p.Namespace, workload, p.PodContainer, program)
	case p.PodContainer != "":
		return path.Join(p.Namespace, p.PodContainer, program)
	case Named(p):
		return path.Join(p.Container, program)
	}
	return strings.Join(append([]string{program}, shape(p)...), " ")
}

// Fingerprint is a hash of a service's name and of a rule about it.
func Fingerprint(rule string, p *inspect.Process) string {
	sum := sha256.Sum256([]byte(rule + "\x00" + Service(p)))
	return hex.EncodeToString(sum[:6])
}

// generated are the characters of the suffixes that Kubernetes generates
// (k8s.io/apimachinery/pkg/util/rand, alphanums).
const generated = "[bcdfghjklmnpqrstvwxz2456789]"

// suffixes are what a pod's name has after that of its workload: of a Deployment the hash of
// the template and five characters, of a CronJob the minute and five characters, of a
// DaemonSet or a Job the latter alone, of a StatefulSet a number.
var suffixes = []struct {
	kind   string
	suffix *regexp.Regexp
}{
	{"deployment", regexp.MustCompile(`-` + generated + `{6,10}-` + generated + `{5}$`)},
	{"cronjob", regexp.MustCompile(`-\d{8,10}-` + generated + `{5}$`)},
	{"daemonset", regexp.MustCompile(`-` + generated + `{5}$`)},
	{"statefulset", regexp.MustCompile(`-\d+$`)},
}

// Workload is the object that made a pod, by the pod's name: its kind, "" if the name does
// not show it, and its name. A Job is taken for a DaemonSet.
func Workload(pod string) (kind, name string) {
	for _, s := range suffixes {
		if name := s.suffix.ReplaceAllString(pod, ""); name != pod && name != "" {
			return s.kind, name
		}
	}
	return "", pod
}

// Named reports whether the container of a process is known by name, not by its id.
func Named(p *inspect.Process) bool {
	return p.Container != "" && !strings.HasPrefix(p.ContainerID, p.Container)
}

// programOf is the name of a process without the words of a title, such as "gunicorn: maste"
// and "puma 6.4.2 (tcp". Node.js calls its main thread MainThread.
func programOf(p *inspect.Process) string {
	name, _, _ := strings.Cut(p.Name, " ")
	name, _, _ = strings.Cut(name, ":")
	if name == "MainThread" && len(p.Command) > 0 {
		name = path.Base(p.Command[0])
	}
	return numbers.ReplaceAllString(name, "#")
}

// numbers are numbers and versions.
var numbers = regexp.MustCompile(`\d+(\.\d+)*`)

// shape is what a command starts: the first two arguments that are neither options nor
// values such as numbers and addresses, without folders, versions and numbers.
func shape(p *inspect.Process) (words []string) {
	command := commandline.StartedBy(p.Command)
	for _, arg := range command[min(1, len(command)):] {
		word := numbers.ReplaceAllString(path.Base(arg), "#")
		if strings.HasPrefix(arg, "-") || strings.Trim(word, "#.:/,%") == "" {
			continue
		}
		if words = append(words, word); len(words) == 2 {
			break
		}
	}
	return words
}
