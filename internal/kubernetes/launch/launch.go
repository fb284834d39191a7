// Package launch is the command line's part of --on kubernetes: it checks whether a
// namespace can run the experiment, creates the objects of the run, follows the run,
// fetches its record, and removes the objects. It does not measure: the conductor does
// that in its pod (internal/kubernetes/conductor).
//
// One ConfigMap owns all objects of a run: when it is deleted the cluster removes the
// others. The Job of the conductor's pod owns the ConfigMap, so that a run whose
// client never returns is removed after the Job's time to live.
package launch

import (
	"cmp"
	"crypto/rand"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// Request is a run to start.
type Request struct {
	Run        string                 // its name, of NewName
	Experiment *experiment.Experiment // with its inputs: ReadInputs
	File       string                 // the experiment's name in errors
	Seed       uint64
	Version    string // of this millicore; Unreleased: it has none
}

// Unreleased is the version of a millicore that was built without a version. It has no
// image.
const Unreleased = "development"

// mostName is the longest name of a run. Names that begin with it must fit into DNS
// labels.
const mostName = 40

// NewName names a run: the shortened name of the experiment, the time, and two random
// letters, as in quick-1123-021818-x7. It is a DNS label that begins with a letter.
func NewName(experiment string, now time.Time) string {
	end := "-" + now.Format("0102-150405") + "-" + strings.ToLower(rand.Text()[:2])
	if c := experiment[0]; c >= '0' && c <= '9' {
		experiment = "r" + experiment
	}
	return strings.TrimRight(experiment[:min(len(experiment), mostName-len(end))], "-") + end
}

// Name is the name of the run's objects, of which there is one of each kind.
func Name(run string) string { return kube.Manager + "-" + run }

// Selector selects the objects of a run, or of one part if it is not "".
func Selector(run, part string) string {
	s := kube.LabelManager + "=" + kube.Manager + "," + kube.LabelRun + "=" + run
	if part != "" {
		s += "," + kube.LabelPart + "=" + part
	}
	return s
}

// Released is the image of Millicore's releases, without a version.
const Released = kube.Manager + "/" + kube.Manager

// Image is the image of Millicore's own programs.
func (a *Request) Image() string {
	return cmp.Or(a.Experiment.Kubernetes.Image, Released+":"+a.Version)
}

// imageless reports whether this millicore has no image and none is configured.
func (a *Request) imageless() bool {
	return a.Version == Unreleased && a.Experiment.Kubernetes.Image == ""
}

// spec is the specification for the conductor.
func (a *Request) spec(namespace string) conductor.Spec {
	k := &a.Experiment.Kubernetes
	return conductor.Spec{Run: a.Run, Name: a.Experiment.Name, Seed: a.Seed, Sets: a.Experiment.Sets, Namespace: namespace,
		Image: a.Image(), Images: k.Images, Version: a.Version, KeepS: k.Keep.Seconds(), NodeAgent: k.NodeAgent,
		Claimed: k.RecordClaim != "", File: a.File}
}

// Lasts estimates how long an experiment takes from its plan. A trial that ends after a
// number of requests counts with its longest time, measure.duration. A search also tests how
// the service recovers.
func Lasts(e *experiment.Experiment) time.Duration {
	var sum time.Duration
	for i := range e.Cells {
		c := &e.Cells[i]
		measured := e.Measure.Measured(c)
		if measured == 0 {
			measured = e.Measure.Duration
		}
		if c.Load.Find {
			measured = capacity.LongestSearch(e, c)
		}
		sum += e.Measure.Warmup + measured + betweenTrials
	}
	sum *= time.Duration(e.Measure.Repeats)
	if common := e.CommonLoad(); common != nil {
		sum += time.Duration(len(e.Cells)*common.Repeats) * (common.Warmup + common.Duration + betweenTrials)
	}
	return sum
}

// betweenTrials is about how long starting and stopping a service takes.
const betweenTrials = 5 * time.Second

// longest is how long the conductor's pod may live: three times as long as the plan
// takes, because a third of the trials may be repeated and nodes may start slowly, at
// least a day, and the time for which the record is kept.
func (a *Request) longest() time.Duration {
	return max(24*time.Hour, 3*Lasts(a.Experiment)) + a.Experiment.Kubernetes.Keep
}
