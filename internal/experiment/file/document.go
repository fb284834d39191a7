package file

import (
	"reflect"
	"time"
)

// document is the shape of an experiment file: DESIGN's contract with its users.
// What is a fixed scalar is the same in every cell; varied and launched ones
// may hold ${name}.
type document struct {
	Name       fixed[unitName, string]    `yaml:"name,required" doc:"Name of the experiment; the record's folder begins with it."`
	About      literal                    `yaml:"about" doc:"What the experiment asks, for its readers."`
	Services   mapping[unitName, service] `yaml:"services,required" doc:"What is measured, by name. Each service is measured on its own."`
	Limits     limits                     `yaml:"limits" doc:"Limits of each replica of a service. A key that is absent or null means no limit."`
	Vary       mapping[varyName, axis]    `yaml:"vary" doc:"Names with the values that ${name} takes; every combination becomes a cell. null leaves unset what the name stands for."`
	Load       load                       `yaml:"load,required" doc:"The traffic to a service."`
	Measure    measure                    `yaml:"measure" doc:"How long and how often is measured."`
	Objective  objective                  `yaml:"objective" doc:"What counts as good; a run that misses it exits with 99."`
	Claims     []claim                    `yaml:"claims" doc:"Published statements that the run is held against."`
	Profile    fixed[truth, bool]         `yaml:"profile" default:"false" doc:"Take profiles of each cell in one extra trial, which counts nowhere else."`
	Docker     docker                     `yaml:"docker" doc:"What holds with --on docker alone."`
	Kubernetes kubernetes                 `yaml:"kubernetes" doc:"What holds with --on kubernetes alone."`
}

// axis is the values of one varied name.
type axis struct {
	bad    bool
	values []literal
}

func (a *axis) decode(d *decoder, n *node, at slot) {
	a.bad = n != nil && n.kind != listNode && n.kind != nullNode
	d.list(n, at, reflect.ValueOf(&a.values).Elem())
}

// service is one of services.
type service struct {
	Workload     fixed[word, string]            `yaml:"workload,one" enum:"go,node,bun,semaphore" noun:"workload" doc:"A sample service that comes with Millicore."`
	Command      []launched                     `yaml:"command,one" doc:"The program and its arguments. ${port} is the port to listen on (also in PORT); ${NAME.address} (host:port), ${NAME.host} and ${NAME.port} are a dependency's, ${NAME.url} is that of a database or of one with a url; ${limits.cpu} and ${limits.memory} as in env."`
	Image        fixed[text, string]            `yaml:"image,one" doc:"A container image; needs a platform of containers."`
	Dir          fixed[text, string]            `yaml:"dir" doc:"Working folder, relative to the experiment file; default: the experiment file's folder."`
	Env          mapping[envName, launched]     `yaml:"env" doc:"Environment variables beside those of the lab. null leaves a variable unset. ${port} and ${NAME.address} as in command; ${limits.cpu} is the CPU limit in whole CPUs, rounded up, and ${limits.memory} the memory limit in bytes."`
	Port         fixed[port, int]               `yaml:"port" doc:"A fixed port that the service listens on, or find: look at what its processes listen on. Default: it listens on the port that it is given. Needs one replica, unless the service is an image."`
	Ready        fixed[path, string]            `yaml:"ready" doc:"Path that answers with a status of 200 to 299 once the service is ready; default: the port accepts."`
	ReadyTimeout fixed[duration, time.Duration] `yaml:"ready_timeout" default:"30s" doc:"How long the service may take to become ready."`
	Limits       limits                         `yaml:"limits" doc:"Limits of this service where they differ: each key replaces the experiment's; null means no limit."`
	Metrics      metrics                        `yaml:"metrics" doc:"Where the service reports how long it waited for its dependencies."`
	Dependencies []dependency                   `yaml:"dependencies" doc:"What the service needs beside it, in the order of their start: postgres, mongodb, or a map. They run and are observed, but not loaded."`
	Actions      []action                       `yaml:"actions" doc:"Requests that the lab sends to each replica while it measures."`
	Autoscale    autoscale                      `yaml:"autoscale" doc:"On Kubernetes: the number of replicas follows their CPU. It begins at min, instead of limits.replicas."`
}

// metrics is where a service reports how long it waited.
type metrics struct {
	optional
	Path       fixed[path, string]       `yaml:"path" default:"/metrics" doc:"Path of the metrics, in Prometheus' text format."`
	Dependency fixed[metricName, string] `yaml:"dependency,required" doc:"Name of the histogram of waits for the dependency, in seconds."`
}

// dependency is one of a service's dependencies, or the name of a built-in
// database (see builtin.go).
type dependency struct {
	Name         fixed[unitName, string]        `yaml:"name,required" doc:"Name in ${NAME.address}, ${NAME.host}, ${NAME.port} and ${NAME.url}. postgres and mongodb without command, image and url are databases that Millicore starts itself."`
	Command      []launched                     `yaml:"command,one" doc:"The program and its arguments. ${port} is its own port; names of earlier dependencies are known."`
	Image        fixed[text, string]            `yaml:"image,one" doc:"A container image; needs a platform of containers."`
	URL          fixed[link, string]            `yaml:"url,one" doc:"One that already runs: nothing is started or observed."`
	Dir          fixed[text, string]            `yaml:"dir" doc:"Working folder, relative to the experiment file; default: the experiment file's folder."`
	Env          mapping[envName, launched]     `yaml:"env" doc:"Environment variables beside those of the lab. null leaves a variable unset."`
	Ready        fixed[path, string]            `yaml:"ready" doc:"Path that answers with a status of 200 to 299 once the dependency is ready; default: the port accepts."`
	ReadyTimeout fixed[duration, time.Duration] `yaml:"ready_timeout" default:"30s" doc:"How long the dependency may take to become ready."`
	Limits       limits                         `yaml:"limits" doc:"Limits of the dependency; default: none."`
}

// action is one of a service's actions.
type action struct {
	At      varied[duration, time.Duration] `yaml:"at,required" doc:"When, after the measured part of a trial began; an action whose moment lies behind the last answer is not sent. Where ${name} is null there is no action."`
	Request request                         `yaml:"request,required" doc:"What is sent to each replica, once."`
}

// request is one HTTP request.
type request struct {
	Method  varied[word, string]                             `yaml:"method" default:"GET" enum:"GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS,QUERY,PROPFIND,PROPPATCH,MKCOL,COPY,MOVE,LOCK,UNLOCK,REPORT,SEARCH,PURGE" noun:"method" doc:"Request method."`
	Path    varied[path, string]                             `yaml:"path,required" doc:"Path, with its query."`
	Headers mapping[headerName, varied[headerValue, string]] `yaml:"headers" doc:"Headers beside those of the agent."`
	Body    varied[text, string]                             `yaml:"body" doc:"Body of the request."`
}

// traffic is a request of the load. In its path, headers and body may stand
// {{seq}}, {{uuid}}, {{rand 1 100}} and {{"text"}}.
type traffic struct {
	request
	BodyFile fixed[text, string] `yaml:"body_file" doc:"File with the body, relative to the experiment file; it is sent as it is, whatever braces it has."`
	Auth     auth                `yaml:"auth" doc:"Credentials, from the environment of Millicore: they are in no file and in no record."`
	Check    check               `yaml:"check" doc:"Which answers are good. Others are counted apart."`
}

// auth is who asks.
type auth struct {
	section
	Basic  fixed[envName, string] `yaml:"basic_env,one" doc:"Variable with user:password, for basic authentication (RFC 7617)."`
	Bearer fixed[envName, string] `yaml:"bearer_env,one" doc:"Variable with a bearer token (RFC 6750)."`
}

// check says which answers are good.
type check struct {
	section
	Status   []varied[status, int64] `yaml:"status" doc:"Statuses of good answers; default: 200 to 299."`
	Contains varied[text, string]    `yaml:"contains" doc:"Text that the body of a good answer has in it."`
}

// weighted is one of several requests.
type weighted struct {
	Weight varied[count, int64] `yaml:"weight" default:"1" doc:"How often it is sent, beside the others."`
	traffic
}

// limits are those of each replica.
type limits struct {
	section
	CPU      varied[cpu, int64]              `yaml:"cpu" doc:"CPU limit as a Kubernetes quantity: 1.5 or 500m."`
	Memory   varied[memory, int64]           `yaml:"memory" doc:"Memory limit as a Kubernetes quantity: 256Mi."`
	Burst    varied[cpu, int64]              `yaml:"burst" doc:"CPU quota that may be saved up for a burst, as a quantity of CPUs for one period; at most cpu."`
	Period   varied[duration, time.Duration] `yaml:"period" default:"100ms" doc:"Length of a CFS period, 1ms to 1s."`
	CPUSet   varied[cpuList, string]         `yaml:"cpuset" doc:"CPUs that may be used, as in 0-1,4."`
	Replicas varied[count, int64]            `yaml:"replicas" default:"1" doc:"Number of replicas."`
}

// load is the traffic.
type load struct {
	Request     traffic                         `yaml:"request,required" or:"mix" doc:"What is sent."`
	Mix         []weighted                      `yaml:"mix" doc:"Several requests in place of one, each sent as often as its weight says."`
	Protocol    fixed[protocol, string]         `yaml:"protocol" default:"http/1.1" doc:"http/1.1, https (HTTP/1.1 over TLS), h2 (HTTP/2 over TLS) or h2c (HTTP/2 without TLS). All but the first cost the agent several times as much."`
	Insecure    fixed[truth, bool]              `yaml:"insecure" default:"false" doc:"true: any certificate of the service will do."`
	Users       target                          `yaml:"users,one" doc:"Closed loop: users that wait for their answer. A number, a ramp or stages; with load.find the number where the search begins."`
	Rate        target                          `yaml:"rate,one" search:"50" doc:"Open loop: requests a second, whatever the answers do. A number, a ramp or stages; with load.find the number where the search begins, unless users is given."`
	Find        fixed[word, string]             `yaml:"find,stands" enum:"breaking-point" doc:"breaking-point: search the highest load that meets the objective, instead of holding one."`
	Benchmark   fixed[truth, bool]              `yaml:"benchmark" default:"false" doc:"true: the service is a program that measures itself and ends, such as a Go benchmark. Nothing is sent, and no other key of load is given; what it prints in Go's benchmark format is its result."`
	Requests    varied[count, int64]            `yaml:"requests" doc:"End after so many requests; with a number of users only. The time of measure.duration then does not count."`
	Spacing     varied[word, string]            `yaml:"spacing" default:"poisson" enum:"poisson,even" doc:"How arrivals of an open loop lie in time, and how think times of users are spread: poisson (exponentially) or even."`
	Think       varied[duration, time.Duration] `yaml:"think" doc:"Closed loop: how long a user thinks between an answer and the next request, on average; spread as spacing says."`
	Waiting     varied[backlog, int64]          `yaml:"waiting" doc:"Open loop: how many requests may be due and wait for a connection, of all agents together; what comes beyond is dropped, and counted as not available. Default: no bound."`
	Agents      varied[count, int64]            `yaml:"agents" default:"1" doc:"Number of agents that share the load."`
	Threads     varied[count, int64]            `yaml:"threads" default:"1" doc:"Number of event loops of each agent."`
	Connections varied[count, int64]            `yaml:"connections" doc:"Number of connections of all agents together; default: users, or enough for the rate."`
	Timeout     varied[duration, time.Duration] `yaml:"timeout" default:"2s" doc:"How long an answer may take from when its request was sent, 1ms to 60s."`
}

// target is a number, or the course that the load takes.
type target struct {
	number varied[level, float64]
	course *course
}

// course is a load that changes over a trial: {ramp: {…}} or {stages: […]}.
type course struct {
	section
	Ramp   ramp    `yaml:"ramp,one" doc:"Raise the load in steps, and hold each."`
	Stages []stage `yaml:"stages,one" doc:"Stages, one after the other."`
}

// what names the course for people.
func (c *course) what() string {
	if c.Ramp.given {
		return "a ramp"
	}
	return "stages"
}

type stage struct {
	Duration varied[duration, time.Duration] `yaml:"duration,required" doc:"How long the stage takes; 0s jumps to the target."`
	Target   varied[level, float64]          `yaml:"target,required" doc:"What the load moves to, in a straight line from the stage before (0 at first)."`
}

func (t *target) decode(d *decoder, n *node, at slot) {
	t.number.slot = at
	if n != nil && n.kind == mapNode {
		t.course = new(course)
		d.structure(n, at, reflect.ValueOf(t.course).Elem())
		return
	}
	if n != nil && n.kind == listNode {
		d.problems.add(n.at, at.path, "want a number, {ramp: {...}} or {stages: [...]}, not a list")
		t.number.bad = true
		return
	}
	t.number.decode(d, n, at)
}

// docker is what holds on Docker alone.
type docker struct {
	Network fixed[word, string] `yaml:"network" default:"own" enum:"own,host" doc:"own: containers have a network of the run's own, and addresses in it; host: they have the machine's."`
}

// measure says how long and how often.
type measure struct {
	Warmup   fixed[duration, time.Duration] `yaml:"warmup" default:"5s" search:"3s" doc:"Load before what counts."`
	Duration fixed[duration, time.Duration] `yaml:"duration" default:"20s" search:"60s" doc:"Length of the measured part of a trial; ramps, stages and requests have their own. With load.find the most traffic of a search, 10s or more; with load.benchmark the most that a trial may take, and 10m by default."`
	Repeats  fixed[count, int64]            `yaml:"repeats" default:"6" search:"1" doc:"Number of trials of each cell; fewer than 6 give no 95% interval of a median."`
	Restart  fixed[truth, bool]             `yaml:"restart" default:"true" doc:"Start the service again for each trial. false: it stays up between the trials of its cell, which then follow one another, so that growth from run to run can be seen."`
	Resize   fixed[truth, bool]             `yaml:"resize" default:"false" doc:"true: a service stays up from one trial to the next where it is the same but for its limits (CPU, burst, period, memory), which are changed while it runs, as by an in-place resize of a pod."`
	Interval fixed[duration, time.Duration] `yaml:"interval" default:"1s" search:"500ms" doc:"Length of a frame, 100ms to 10s; with load.find at most 2s, and whole CFS periods."`
}

// objective is what counts as good.
type objective struct {
	section
	P50          fixed[duration, time.Duration] `yaml:"p50" doc:"Median latency, at most."`
	P90          fixed[duration, time.Duration] `yaml:"p90" doc:"90th percentile of latency, at most."`
	P95          fixed[duration, time.Duration] `yaml:"p95" doc:"95th percentile of latency, at most."`
	P99          fixed[duration, time.Duration] `yaml:"p99" doc:"99th percentile of latency, at most."`
	P999         fixed[duration, time.Duration] `yaml:"p999" doc:"99.9th percentile of latency, at most."`
	Availability fixed[percent, float64]        `yaml:"availability" doc:"Share of requests with a good answer in time, in percent, at least."`
}
