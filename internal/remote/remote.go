// Package remote is the command line's half of --on kubernetes: it checks that a
// run can take place in a namespace, makes the objects that conduct it there,
// follows it from afar, fetches its record, and removes what it made. It
// measures nothing: that is the conductor's work, in its pod (internal/conductor).
//
// One ConfigMap owns all that a run makes: once it is deleted the cluster removes
// the rest. The Job of the conductor's pod owns the ConfigMap in turn, so that a
// run whose client never comes back ends with the Job's time to live.
package remote

import (
	"cmp"
	"crypto/rand"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/conductor"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kube"
)

// Asked is a run that is to be started.
type Asked struct {
	Run        string                 // its name, of NewName
	Experiment *experiment.Experiment // with what Gather found
	File       string                 // the experiment's name in errors
	Seed       uint64
	Version    string // of millicore; Unreleased: it was built without one
}

// Unreleased is the version of a millicore that was built without one. There is no
// image of it.
const Unreleased = "development"

// mostName is what a run's name may have, so that names that begin with it fit
// into DNS labels.
const mostName = 40

// NewName names a run: the experiment's name, cut, the time, and two letters by
// chance, as in quick-1123-021818-x7. It is a DNS label that begins with a letter.
func NewName(experiment string, now time.Time) string {
	end := "-" + now.Format("0102-150405") + "-" + strings.ToLower(rand.Text()[:2])
	if c := experiment[0]; c >= '0' && c <= '9' {
		experiment = "r" + experiment
	}
	return strings.TrimRight(experiment[:min(len(experiment), mostName-len(end))], "-") + end
}

// Name is that of the run's objects of which there is one each.
func Name(run string) string { return kube.Manager + "-" + run }

// Selector chooses the objects of a run; of one part where it is not "".
func Selector(run, part string) string {
	s := kube.LabelManager + "=" + kube.Manager + "," + kube.LabelRun + "=" + run
	if part != "" {
		s += "," + kube.LabelPart + "=" + part
	}
	return s
}

// released is the name of the images of Millicore's releases, without a version.
const released = kube.Manager + "/" + kube.Manager

// Image is the one of Millicore's own programs.
func (a *Asked) Image() string {
	return cmp.Or(a.Experiment.Kubernetes.Image, released+":"+a.Version)
}

// imageless tells whether nobody has named the image of a millicore of which there
// is none.
func (a *Asked) imageless() bool {
	return a.Version == Unreleased && a.Experiment.Kubernetes.Image == ""
}

// runFile is run.json.
func (a *Asked) runFile(namespace string) conductor.Run {
	k := &a.Experiment.Kubernetes
	return conductor.Run{Run: a.Run, Name: a.Experiment.Name, Seed: a.Seed, Sets: a.Experiment.Sets, Namespace: namespace,
		Image: a.Image(), Images: k.Images, Version: a.Version, KeepS: k.Keep.Seconds(), NodeAgent: k.NodeAgent,
		Claimed: k.RecordClaim != "", File: a.File}
}

// Lasts estimates how long an experiment takes, from its plan alone: trials that
// a number of requests ends count with their longest, the measure's duration.
func Lasts(e *experiment.Experiment) time.Duration {
	var sum time.Duration
	for i := range e.Cells {
		c := &e.Cells[i]
		measured := e.Measure.Measured(c)
		if measured == 0 {
			measured = e.Measure.Duration
		}
		sum += e.Measure.Warmup + measured + betweenTrials
	}
	return sum * time.Duration(e.Measure.Repeats)
}

// betweenTrials is what starting and stopping a service takes, about.
const betweenTrials = 5 * time.Second

// longest is how long the conductor's pod may live: three times what the plan
// takes, as a third of its trials may be repeated and nodes may be slow to come,
// but a day at least; and then the time that the record is kept.
func (a *Asked) longest() time.Duration {
	return max(24*time.Hour, 3*Lasts(a.Experiment)) + a.Experiment.Kubernetes.Keep
}
