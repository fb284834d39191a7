package file

import (
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
)

// The keys of the file are declared by the tags of struct fields (see field). Most of
// these fields are in package experiment; here are those whose form in the file
// differs from the value.

// document is an experiment file.
type document struct {
	Name       string                `yaml:"name,required" kind:"unitName" doc:"Name of the experiment; the record's folder begins with it."`
	About      string                `yaml:"about" names:"letters" doc:"The question of the experiment, for its readers."`
	Services   mapping[service]      `yaml:"services,required" keys:"unitName" doc:"What is measured, by name. Each service is measured on its own."`
	Limits     experiment.Limits     `yaml:"limits" names:"cell" doc:"Limits of each replica of a service. A key that is absent or null means no limit."`
	Vary       mapping[[]*string]    `yaml:"vary" keys:"varyName" kind:"text" names:"letters" doc:"Names with the values that ${name} takes; every combination becomes a cell. null leaves unset what the name stands for."`
	Load       experiment.Load       `yaml:"load,required" names:"cell" doc:"The traffic to a service."`
	Measure    experiment.Measure    `yaml:"measure" doc:"Length and number of the trials."`
	Objective  objective             `yaml:"objective" doc:"What counts as good; a run that misses it exits with 99."`
	Claims     []experiment.Claim    `yaml:"claims" doc:"Published statements that the run is compared with."`
	Server     *experiment.Server    `yaml:"server" doc:"The services are one server in several settings: the report begins with a paragraph about it."`
	Profile    bool                  `yaml:"profile" default:"false" doc:"Take profiles of each cell in one extra trial, which counts nowhere else."`
	Docker     experiment.Docker     `yaml:"docker" doc:"Settings for --on docker."`
	Kubernetes experiment.Kubernetes `yaml:"kubernetes" doc:"Settings for --on kubernetes."`
}

// service is one of services. Its limits are a part of its cells.
type service struct {
	experiment.Service
	Limits experiment.Limits `yaml:"limits" names:"cell" doc:"Limits of this service where they differ: each key replaces the experiment's; null means no limit."`
}

// objective is what counts as good.
type objective struct {
	P50          time.Duration `yaml:"p50" doc:"Maximum median latency."`
	P90          time.Duration `yaml:"p90" doc:"Maximum 90th percentile of latency."`
	P95          time.Duration `yaml:"p95" doc:"Maximum 95th percentile of latency."`
	P99          time.Duration `yaml:"p99" doc:"Maximum 99th percentile of latency."`
	P999         time.Duration `yaml:"p999" doc:"Maximum 99.9th percentile of latency."`
	Availability float64       `yaml:"availability" kind:"percent" doc:"Minimum share of requests with a good answer in time, in percent."`
}

// course is a load that changes over a trial: {ramp: {…}} or {stages: […]}.
type course struct {
	Ramp   *ramp              `yaml:"ramp,one" doc:"Raise the load in steps, and hold each."`
	Stages []experiment.Stage `yaml:"stages,one" doc:"Stages, one after the other."`
}

// ramp raises a load in steps: the shape of published comparisons.
type ramp struct {
	From  float64       `yaml:"from,required" kind:"level" doc:"The first level; the warm-up runs at it."`
	To    float64       `yaml:"to,required" kind:"level" doc:"The last level. It is held even where the steps do not lead to it."`
	By    float64       `yaml:"by,one" kind:"level" doc:"Difference between a level and the one before."`
	Times float64       `yaml:"times,one" kind:"level" doc:"Ratio of a level to the one before, above 1; users are rounded to whole numbers."`
	Each  time.Duration `yaml:"each,required" doc:"How long each level is held: at least 2 frames (measure.interval), best 10 or more."`
}
