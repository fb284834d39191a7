package diagnosis

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/identity"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/paragraphs"
	"github.com/millicore/millicore/internal/kubernetes/fleet"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/report"
)

// Fleet is a cluster whose nodes were looked at.
type Fleet struct {
	Nodes []fleet.Node
	pods  map[string]int // by fingerprint: how many have the finding
}

// Unread counts the nodes that could not be read.
func (f *Fleet) Unread() (n int) {
	if f == nil {
		return 0
	}
	for i := range f.Nodes {
		if f.Nodes[i].Err != nil {
			n++
		}
	}
	return n
}

// Worst are the findings with one for each rule and workload, that of the pod with the worst
// figures: the first. Without a fleet they are all findings.
func (f *Fleet) Worst(findings []doctor.Finding) (worst []doctor.Finding) {
	if f == nil {
		return findings
	}
	f.pods = map[string]int{}
	counted := map[string]bool{}
	for i := range findings {
		one := &findings[i]
		id, p := one.Fingerprint(), one.Process
		if f.pods[id] == 0 {
			worst = append(worst, *one)
		}
		// The processes of one pod, such as workers, are one.
		if pod := strings.Join([]string{id, p.Node, cmp.Or(p.Pod, p.ContainerID, p.CPU.Group)}, "\x00"); !counted[pod] {
			counted[pod] = true
			f.pods[id]++
		}
	}
	return worst
}

// workload names what a finding is about by the namespace, "" outside of Kubernetes, and by the
// workload with the container, where that has another name.
func workload(p *inspect.Process) (namespace, name string) {
	if p.Pod == "" || !identity.Named(p) {
		return p.Namespace, identity.Service(p)
	}
	_, name = identity.Workload(p.Container)
	if p.PodContainer != "" && p.PodContainer != name {
		name += "/" + p.PodContainer
	}
	return p.Namespace, name
}

// answer is the one about a cluster.
func (f *Fleet) answer(host inspect.Host, worst []doctor.Finding) answer.Answer {
	of := Of(host, worst)
	if all := changes(worst); len(all) > 0 {
		about := map[string]bool{}
		for i := range all {
			namespace, name := workload(all[i].Process)
			about[namespace+"/"+name] = true
		}
		first := &all[0]
		namespace, name := workload(first.Process)
		who := fmt.Sprintf("%s %s", display.Plain(strings.TrimPrefix(namespace+"/"+name, "/")), paragraphs.Where(first))
		of.What = fmt.Sprintf("1 workload is mis-sized: %s: %s.", who, display.Plain(first.Title))
		if n := len(about); n > 1 {
			of.What = fmt.Sprintf("%d workloads are mis-sized, the worst is %s: %s.", n, who, display.Plain(first.Title))
		}
	}
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Err != nil {
			of.Caveats = append(of.Caveats, fmt.Sprintf("Node %s was not read: %s.", display.Plain(n.Name), display.Problem(n.Err)))
		}
	}
	return of
}

// inspected is what was looked at.
func (f *Fleet) inspected(host inspect.Host) string {
	said := inspected(host)
	if f == nil {
		return said
	}
	return fmt.Sprintf("%d of %s read: %s", len(f.Nodes)-f.Unread(), display.Counted(int64(len(f.Nodes)), "node"), said)
}

// columns are those of a table of workloads.
func (f *Fleet) columns(column func(string, report.Kind, report.Rank, func(*doctor.Finding) string) report.Column) []report.Column {
	return []report.Column{
		column("namespace", report.Word, report.Kept, func(f *doctor.Finding) string {
			namespace, _ := workload(f.Process)
			return display.Plain(cmp.Or(namespace, display.Absent))
		}),
		column("workload", report.Name, report.Kept, func(f *doctor.Finding) string {
			_, name := workload(f.Process)
			return display.Plain(name)
		}),
		column("pods", report.Mixed, report.Kept, func(one *doctor.Finding) string { return fmt.Sprint(f.pods[one.Fingerprint()]) }),
		column("level", report.Word, 4, func(f *doctor.Finding) string { return f.Level.String() }),
		column("limit", report.Mixed, 3, func(f *doctor.Finding) string { return f.Limit }),
		column("throttled", report.Mixed, 2, func(f *doctor.Finding) string { return display.Maybe(f.Throttled, display.Share) }),
		column("problem", report.Word, report.Kept, func(f *doctor.Finding) string { return f.Rule.Problem() }),
		column("change", report.Word, 1, func(f *doctor.Finding) string { return brief(f) }),
	}
}

// mostChange is the width of a change in a table.
const mostChange = 40

// brief is the change of a finding in a few words.
func brief(f *doctor.Finding) string {
	text := strings.TrimPrefix(display.Plain(f.Action()), "set ")
	if f.Process != nil && strings.HasSuffix(text, "add replicas of "+display.Plain(f.Name)) {
		text = "add replicas"
	}
	if r := []rune(text); len(r) > mostChange {
		return strings.TrimSpace(string(r[:mostChange-1])) + "…"
	}
	return text
}
