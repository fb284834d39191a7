package doctor

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Service names the service that a process belongs to, as it is called after a restart, an
// update and a change of its settings too. In Kubernetes that is the workload and the
// container, elsewhere the container or the unit, each with the program; where none of these
// has a name, the program with the shape of its command.
func Service(p *inspect.Process) string {
	program := programOf(p)
	switch named := p.Container != "" && !strings.HasPrefix(p.ContainerID, p.Container); {
	case named && p.Pod != "":
		return path.Join(p.Namespace, workload(p.Container), p.PodContainer, program)
	case p.PodContainer != "":
		return path.Join(p.Namespace, p.PodContainer, program)
	case named:
		return path.Join(p.Container, program)
	}
	return strings.Join(append([]string{program}, shape(p)...), " ")
}

// Fingerprint identifies a finding across runs: the rule and the service. Figures, levels,
// pids and hosts are not in it.
func (f *Finding) Fingerprint() string {
	sum := sha256.Sum256([]byte(string(f.Rule) + "\x00" + Service(f.Process)))
	return hex.EncodeToString(sum[:6])
}

// generated are the characters of the suffixes that Kubernetes generates
// (k8s.io/apimachinery/pkg/util/rand, alphanums).
const generated = "[bcdfghjklmnpqrstvwxz2456789]"

// suffix is what a pod's name has after that of its workload: of a Deployment the hash of the
// template and five characters, of a DaemonSet or a Job the latter alone, of a CronJob after
// the minute, of a StatefulSet a number.
var suffix = regexp.MustCompile(`(-` + generated + `{6,10}|-\d{8,10})?-` + generated + `{5}$|-\d+$`)

// workload is the name of the object that made a pod.
func workload(pod string) string {
	if name := suffix.ReplaceAllString(pod, ""); name != "" {
		return name
	}
	return pod
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
	command := runtimes.StartedBy(p.Command)
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
