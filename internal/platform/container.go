package platform

import "time"

// Container are settings of a container of an image that services of a compose file have,
// beside those of every UnitSpec. Only Docker has them.
type Container struct {
	Names      []string // by which the run's other containers reach it
	Until      Condition
	Entrypoint []string // nil: the image's
	// Health is the program of its health check, which replaces that of its image, and
	// HealthTimeout how long it may run; 0: Docker's default. With NoHealth there is none.
	Health        []string
	HealthTimeout time.Duration
	NoHealth      bool
	// Volumes are mounts of volumes by their names. The run makes them, and removes them at
	// its end; all of its containers share one by its name.
	Volumes []string

	Hostname    string
	StopSignal  string
	OpenStdin   bool // standard input stays open; nothing is written to it
	Attended    bool // standard input ends when this process does
	Init        *bool
	Privileged  bool
	ReadOnly    bool
	CapAdd      []string
	CapDrop     []string
	GroupAdd    []string
	SecurityOpt []string
	ExtraHosts  []string          // NAME:ADDRESS
	Tmpfs       map[string]string // options by path
	Sysctls     map[string]string
	Ulimits     map[string][2]int64 // soft and hard
	ShmSize     int64               // in bytes; 0: Docker's default
}

// Condition is what a start of a container waits for.
type Condition int

const (
	Serves    Condition = iota // its port, and its health check if it has one
	Started                    // it runs, and listens on a port that its image EXPOSEs, if it does so soon
	Healthy                    // its health check succeeds
	Completed                  // it ended with exit status 0; it is not restarted
)
