package experiment

import "time"

// Service is what is measured. Exactly one of Workload, Command and Image is
// set, and Image also of a service of compose files. In Command and Env, ${port} stands for the replica's own port and
// ${NAME.address}, ${NAME.host} and ${NAME.port} for a dependency's (${NAME.url}
// if it has one). They are known only after it has started; the platform replaces
// them with Expand, and so ${limits.cpu} and ${limits.memory} (LimitVars).
type Service struct {
	Name     string   `json:"name"`
	Workload string   `json:"workload,omitempty" yaml:"workload,one" enum:"go,node,bun,semaphore" noun:"workload" doc:"A sample service that comes with Millicore."`
	Command  []string `json:"command,omitempty" yaml:"command,one" names:"late" doc:"The program and its arguments. ${port} is the port to listen on (also in PORT); ${NAME.address} (host:port), ${NAME.host} and ${NAME.port} are a dependency's, and ${NAME.url} is that of a database or of a dependency with a url; ${limits.cpu} and ${limits.memory} as in env."`
	Image    string   `json:"image,omitempty" yaml:"image,one" doc:"A container image; needs a platform that runs containers."`
	// Compose are the compose files that the image is of, with whole paths, and Of the service in them.
	Compose []string `json:"compose,omitempty" yaml:"compose,one" with:"image" doc:"A compose file, or several, of which later ones override: the service runs as there, beside what it depends on. Relative to the experiment file; needs --on docker. Other keys replace what the files have; image then replaces theirs."`
	Of      string   `json:"compose_service,omitempty" yaml:"service" doc:"The service of the compose file; default: its only one."`
	Args    []string `json:"args,omitempty" yaml:"args" names:"late" doc:"Arguments of an image, in place of its CMD; names as in command."`
	// Volumes are mounts of an image, as SplitVolume reads them. A path that begins with a
	// dot is relative to the lab's own folder, not to the file's.
	Volumes []string `json:"volumes,omitempty" yaml:"volumes" kind:"volume" doc:"Folders, files and volumes in an image's container, as of docker run --volume: ./data:/data:ro. A path that begins with a dot is relative to the experiment file. Needs --on docker."`
	// Dir of a command is relative to the lab's own folder, not to the file's.
	Dir   string            `json:"dir,omitempty" yaml:"dir" doc:"Working folder, relative to the experiment file; default: the experiment file's folder."`
	Env   map[string]string `json:"env,omitempty" yaml:"env" keys:"envName" names:"late" doc:"Environment variables in addition to those of the lab. null leaves a variable unset; {from_env: NAME}, {from_file: PATH} and {secret: NAME/KEY} read the value from elsewhere; {public: VALUE} is shown although the name looks like that of a secret. ${port} and ${NAME.address} as in command; ${limits.cpu} is the CPU limit in whole CPUs, rounded up, and ${limits.memory} the memory limit in bytes."`
	Unset []string          `json:"unset,omitempty"` // env names that must be absent
	// Public are the env names whose values are shown whatever the name looks like.
	Public []string `json:"public,omitempty"`
	// EnvFrom are the variables whose values are not in the file. EnvHashes has a keyed
	// hash of each value that is not shown.
	EnvFrom   map[string]Reference `json:"env_from,omitempty"`
	EnvHashes map[string]string    `json:"env_hashes,omitempty"`
	// Port is a fixed port that the service listens on. With FindPort the platform
	// looks at what its processes listen on. With neither, the platform assigns a
	// port. Both need one replica. Several replicas of an image may have one Port if
	// each has an address of its own.
	Port     int   `json:"port,omitempty" yaml:"port" kind:"port" doc:"A fixed port that the service listens on, or find: look at what its processes listen on. Default: the service listens on ${port}, and of an image on Docker what is found, EXPOSEd ports first. Needs one replica, unless the service is an image."`
	FindPort bool  `json:"find_port,omitempty"`
	Ready    Ready `json:"ready" yaml:",inline"`
	// User is a name or UID[:GID], Caller, or "": the platform chooses.
	User         string       `json:"user,omitempty" yaml:"user" kind:"account" doc:"The user that the service runs as: a name or UID[:GID] of this machine, or caller (the user of millicore). Default: with sudo the user who called it, otherwise the caller. Of an image: a user of the image on Docker, UID[:GID] on Kubernetes."`
	Metrics      *Metrics     `json:"metrics,omitempty" yaml:"metrics" doc:"Where the service reports how long it waited for its dependencies."`
	Dependencies []Dependency `json:"dependencies,omitempty" yaml:"dependencies" doc:"What the service needs beside it, in the order of their start: postgres, mongodb, or a map. Dependencies run and are observed, but receive no load."`
	Actions      []Action     `json:"actions,omitempty" yaml:"actions" names:"cell" doc:"Requests that the lab sends to each replica during the measurement."`
	// Autoscale works on Kubernetes only. The cell's replicas are those at the start.
	Autoscale *Autoscale `json:"autoscale,omitempty" yaml:"autoscale" doc:"On Kubernetes: the number of replicas follows their CPU. It starts at min, instead of limits.replicas."`
}

// Dependency runs beside the service and is observed, but receives no load. Exactly
// one of Builtin, Command, Image and URL is set.
type Dependency struct {
	Name    string            `json:"name" yaml:"name,required" kind:"unitName" doc:"Name in ${NAME.address}, ${NAME.host}, ${NAME.port} and ${NAME.url}. postgres and mongodb without command, image and url are databases that Millicore starts itself, and neighbour is threads that compute without end, as many as its limits.cpu."`
	Builtin string            `json:"builtin,omitempty"` // what Millicore starts itself: "postgres", "mongodb", "neighbour"
	Command []string          `json:"command,omitempty" yaml:"command,one" names:"late" doc:"The program and its arguments. ${port} is its own port; names of earlier dependencies are known."`
	Image   string            `json:"image,omitempty" yaml:"image,one" doc:"A container image; needs a platform that runs containers."`
	URL     string            `json:"url,omitempty" yaml:"url,one" kind:"link" doc:"URL of a dependency that already runs: nothing is started or observed."`
	Dir     string            `json:"dir,omitempty" yaml:"dir" doc:"Working folder, relative to the experiment file; default: the experiment file's folder."`
	Env     map[string]string `json:"env,omitempty" yaml:"env" keys:"envName" names:"late" doc:"Environment variables in addition to those of the lab, as of a service."`
	Unset   []string          `json:"unset,omitempty"`
	Public  []string          `json:"public,omitempty"`

	EnvFrom   map[string]Reference `json:"env_from,omitempty"`
	EnvHashes map[string]string    `json:"env_hashes,omitempty"`

	User   string `json:"user,omitempty" yaml:"user" kind:"account" doc:"The user that the dependency runs as; as of a service."`
	Ready  Ready  `json:"ready" yaml:",inline"`
	Limits Limits `json:"limits" yaml:"limits" names:"cell" doc:"Limits of the dependency; default: none."`
}

// What Millicore starts itself: values of Dependency.Builtin.
const (
	Postgres  = "postgres"
	MongoDB   = "mongodb"
	Neighbour = "neighbour" // no database: it uses the CPU of its limit, so that a service has a busy neighbour
)

// Neighbour is the busy neighbour that runs beside the service on purpose; nil: there is none.
func (s *Service) Neighbour() *Dependency {
	for i := range s.Dependencies {
		if s.Dependencies[i].Builtin == Neighbour {
			return &s.Dependencies[i]
		}
	}
	return nil
}

// DatabaseImage is the image of a database that Millicore starts itself, where services
// are images; "" if there is no such database.
func DatabaseImage(builtin string) string {
	switch builtin {
	case Postgres:
		return "postgres:17-alpine"
	case MongoDB:
		return "mongo:8"
	}
	return ""
}

// Metrics is where a service reports how long it waited for its dependencies.
type Metrics struct {
	Path       string `json:"path" yaml:"path" kind:"path" default:"/metrics" doc:"Path of the metrics, in Prometheus' text format."`
	Dependency string `json:"dependency" yaml:"dependency,required" kind:"metricName" doc:"Name of the histogram of waits for the dependency, in seconds."`
}

// Ready is when a replica serves: when its port accepts, or when Path answers
// with a status of 200 to 299.
type Ready struct {
	Path    string        `json:"path,omitempty" yaml:"ready" kind:"path" doc:"Path that answers with a status of 200 to 299 once the replica is ready; of gRPC /grpc.health.v1.Health/Check, which answers SERVING; default: the port accepts connections."`
	Timeout time.Duration `json:"timeout" yaml:"ready_timeout" default:"30s" doc:"Time limit for becoming ready."` // nanoseconds in JSON
	// Protocol is that of the requests to Path: the load's, which the lab sets when
	// it starts the service; "" is the first of Protocols.
	Protocol string `json:"-"`
}

// Action is a request that the lab sends to each replica once, At after the
// measured part of a trial began.
type Action struct {
	At      time.Duration `json:"at" yaml:"at,required" optional:"yes" doc:"When, counted from the start of the measured part of a trial; an action later than the last answer is not sent. Where ${name} is null there is no action."`
	Request Request       `json:"request" yaml:"request,required" without:"weight,grpc,proto,import_paths,gzip,max_message,body_file,auth,check,think,capture" doc:"The request that each replica receives once."`
}

// Limits hold for each replica. Zero is "no limit".
type Limits struct {
	// CPUMillis / 1000 x Period is the quota; BurstMillis is saved-up quota in the
	// same unit.
	CPUMillis int64 `json:"cpu_millis,omitempty" yaml:"cpu" kind:"cpu" doc:"CPU limit as a Kubernetes quantity: 1.5 or 500m."`
	// RequestMillis is what the CPU weight of a replica stands for, and bounds nothing. 0: the
	// weight that the platform gives without a request, on local and Docker that of 1 CPU.
	RequestMillis int64         `json:"request_millis,omitempty" yaml:"request" kind:"cpu" doc:"CPU request as a Kubernetes quantity: it becomes only a weight, which divides the CPUs where they are all in use. Default: on local and Docker the weight of 1 CPU, on Kubernetes the limit."`
	BurstMillis   int64         `json:"burst_millis,omitempty" yaml:"burst" kind:"cpu" doc:"CPU quota that may be saved up for a burst, as a quantity of CPUs for one period; at most cpu."`
	Period        time.Duration `json:"period,omitempty" yaml:"period" default:"100ms" doc:"Length of a CFS period, 1ms to 1s."`
	Memory        int64         `json:"memory_bytes,omitempty" yaml:"memory" kind:"memory" doc:"Memory limit as a Kubernetes quantity: 256Mi."`
	CPUSet        string        `json:"cpuset,omitempty" yaml:"cpuset" kind:"cpuList" doc:"CPUs that may be used, as in 0-1,4."` // as in cpuset.cpus
	// PIDs is DefaultPIDs on local and Docker if it is 0.
	PIDs     int `json:"pids,omitempty" yaml:"pids" doc:"Maximum number of processes and threads together; default: 4096 on local and Docker."`
	Replicas int `json:"replicas" yaml:"replicas" default:"1" doc:"Number of replicas."`
}

// DefaultPIDs is the limit of processes and threads where an experiment has none. It is
// ten times what servers with a thread for each connection usually run, and a tenth of
// the 32768 that small machines have in all (kernel.pid_max): a fork bomb does not take
// the processes of others. OpenShift has the same default for a pod.
const DefaultPIDs = 4096

// Caller is the value of Service.User, beside the names of users, for the user of millicore.
const Caller = "caller"

// Autoscale is a HorizontalPodAutoscaler (autoscaling/v2): the number of replicas
// follows their CPU.
type Autoscale struct {
	Min        int `json:"min" yaml:"min" default:"1" doc:"Number of replicas at the start, and the minimum."`
	Max        int `json:"max" yaml:"max,required" doc:"Maximum number of replicas."` // above Min
	CPUPercent int `json:"cpu_percent" yaml:"cpu,required" kind:"share" doc:"Target of the replicas' average CPU, in percent of their CPU request, as in 60%."`
}

// MostReplicas is the largest number of replicas that the cell's service can have.
func (c *Cell) MostReplicas() int {
	if a := c.Service.Autoscale; a != nil {
		return a.Max
	}
	return c.Limits.Replicas
}
