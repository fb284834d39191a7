package try

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/front/dockerflags"
	"github.com/millicore/millicore/internal/front/inputs"
	"github.com/millicore/millicore/internal/front/traffic"
)

// Flags are those of `millicore try` as the user writes them. Errors name the flags.
type Flags struct {
	Ask Ask // what is asked: some flags set it directly, and Fill the rest

	CPU          string // one limit or several: 250m,500m,1
	Get, Post    string // paths
	Body         string // text, or @FILE
	Headers      []string
	P99          time.Duration
	Availability float64 // in percent
	Save, Out    string  // the file of the experiment, and the folder of the record

	Image   string // in place of a command; "": there is none
	Volumes []string
	Network string   // "" or host
	Compose []string // files, in place of an image
	Service string   // of them
	Port    string   // PORT, or of an image HOST:CONTAINER

	Env     []string // NAME=VALUE, or NAME of the caller's own
	Repeats int
	Start   float64 // requests per second with which a search begins; 0: from a probe
	PIDs    int
	Against string // a command line, or an image and its arguments
	Attach  string // a service that runs already
	CACert  string // of that service
	Yes     bool   // another host may be loaded

	Inputs inputs.Flags
}

// startOnly are the flags that have no effect on a service that runs already.
var startOnly = []string{"cpu", "memory", "env", "ready", "ready-timeout", "as-is", "user", "pids", "profile", "save", "against", "image", "compose", "service", "neighbour"}

// DefineContainer defines the flags of images and of compose files.
func (f *Flags) DefineContainer(flags *pflag.FlagSet) {
	flags.StringVar(&f.Image, "image", "", "try a container image on this machine's Docker or podman, as docker run would start it; the command becomes its arguments")
	flags.StringArrayVarP(&f.Volumes, "volume", "v", nil, "with --image: a folder, a file or a volume in the container, as in ./data:/data:ro (repeatable)")
	flags.StringVar(&f.Network, "network", "", "with --image: host lets the container use this machine's network (default: a network of its own)")
	flags.StringArrayVar(&f.Compose, "compose", nil, "try a service of this compose `FILE`, with its own limits, beside what it depends on (repeatable: later files override)")
	flags.StringVar(&f.Service, "service", "", "with --compose: the service to try")
}

// Container reports whether a container is tried, in place of a command.
func (f *Flags) Container() bool { return f.Image != "" || len(f.Compose) > 0 }

// Take takes what follows --: the command of the server, or the arguments of its container.
func (f *Flags) Take(args []string) {
	if f.Container() {
		f.Ask.Image = &Image{Name: f.Image, Args: args}
		return
	}
	f.Ask.Command = args
}

// Check reports flags that are wrong, or exclude each other. changed reports whether a flag
// was set.
func (f *Flags) Check(changed func(string) bool) error {
	switch {
	case f.Repeats < 1:
		return fmt.Errorf("--repeats %d: want 1 or more", f.Repeats)
	case f.PIDs < 1:
		return fmt.Errorf("--pids %d: want 1 or more", f.PIDs)
	case changed("start-rate") && !(f.Start > 0): // NaN is not
		return fmt.Errorf("--start-rate %v: want requests per second above 0", f.Start)
	case changed("start-rate") && changed("users"):
		return errors.New("--start-rate is a rate; a search for --users begins with one user")
	case f.Attach == "" && changed("cacert"):
		return errors.New("--cacert needs --attach: a server that try starts is loaded without TLS")
	case len(f.Compose) > 0 && (changed("image") || changed("volume") || changed("network")):
		return errors.New("--compose names the image, the volumes and the networks: leave out --image, --volume and --network, or override them in a second file (--compose FILE --compose OVERRIDE)")
	case len(f.Compose) == 0 && changed("service"):
		return errors.New("--service needs --compose: name the file, as in --compose compose.yaml")
	case f.Image == "" && (changed("volume") || changed("network")):
		return errors.New("--volume and --network are about a container: name its image with --image")
	case f.Network != "" && f.Network != "host":
		return fmt.Errorf("--network %s: want host, or leave it out: the container then has a network of its own, which is removed with it", f.Network)
	case changed("image") && strings.TrimSpace(f.Image) == "":
		return errors.New("--image is empty: name an image, as in --image nginx:1.27")
	case changed("neighbour") && f.Ask.Neighbour == "":
		return errors.New("--neighbour is empty: write the CPUs that it uses, as in 2 or 500m")
	case f.Attach == "" && changed("yes"):
		return errors.New("--yes needs --attach: a server that try starts is not asked about")
	}
	if err := f.Inputs.Contradiction(changed, "get", "post", "body", "grpc"); err != nil {
		return err
	}
	for _, flag := range startOnly {
		if f.Attach != "" && changed(flag) {
			return fmt.Errorf("--%s is about a server that try starts; a service of --attach stays as it is", flag)
		}
	}
	return nil
}

// Fill completes what is asked, over the caller's environment and in the working folder, and
// names the folder of the record.
func (f *Flags) Fill(changed func(string) bool) (err error) {
	a := &f.Ask
	if a.Dir, err = os.Getwd(); err != nil {
		return err
	}
	if err := f.readCompose(changed); err != nil {
		return err
	}
	if a.CPUs, err = Limits(f.CPU); err != nil {
		return err
	}
	a.CPU = a.CPUs[0]
	caller := Caller(os.Environ())
	if i := a.Image; i != nil { // it gets nothing of the caller's, as with docker run
		caller, i.HostNetwork = map[string]string{}, f.Network == "host"
		if i.Volumes, err = dockerflags.Volumes(f.Volumes); err != nil {
			return err
		}
	}
	if a.Env, err = variables(caller, f.Env); err != nil {
		return err
	}
	if f.Port != "" {
		if a.Port, err = dockerflags.Port(f.Port, a.Image != nil); err != nil {
			return err
		}
	}
	if a.First = f.Start; f.PIDs != experiment.DefaultPIDs || changed("pids") {
		a.PIDs = f.PIDs
	}
	if f.Repeats > 1 {
		a.Repeats = f.Repeats
	}
	if err := errors.Join(a.HoldAgainst(f.Against), a.checkNeighbour(runtime.NumCPU())); err != nil {
		return err
	}
	a.ReadyTimeoutSet = changed("ready-timeout")
	a.Objective = experiment.Objective{Quantile: "p99", Latency: f.P99, Availability: f.Availability}
	if err := f.request(changed); err != nil {
		return err
	}
	if a.Input, err = f.Inputs.Read(); err != nil {
		return err
	}
	if a.Request.Headers, err = traffic.ParseHeaders("--header", f.Headers); err != nil {
		return err
	}
	if err := f.saves(); err != nil {
		return err
	}
	f.Out = cmp.Or(f.Out, record.NewDir("runs", a.Name(), time.Now()))
	return record.Free(f.Out)
}

// variables puts the values of --env over variables. A name alone has the value of this
// process's own environment.
func variables(env map[string]string, given []string) (map[string]string, error) {
	for _, entry := range given {
		name, value, whole := strings.Cut(entry, "=")
		if name == "" {
			return nil, fmt.Errorf("--env %q: write it as NAME=VALUE, or NAME", entry)
		}
		if !whole {
			var set bool
			if value, set = os.LookupEnv(name); !set {
				return nil, fmt.Errorf("--env %s: this variable is not set here; export it, or write it as NAME=VALUE", entry)
			}
		}
		env[name] = value
	}
	return env, nil
}

// request sets the method, the path and the body of the requests.
func (f *Flags) request(changed func(string) bool) (err error) {
	r, method := &f.Ask.Request, ""
	switch r.Path = f.Get; {
	case f.Post != "":
		method, r.Path = "POST", f.Post
	case changed("get"):
		method = "GET"
	}
	r.Method = cmp.Or(traffic.MethodOf(method, f.Body != ""), "GET")
	r.GRPC = f.Ask.Calls.GRPC
	if r.Body, r.BodyFile, err = traffic.SplitBody("--body", f.Body); err != nil || r.BodyFile == "" {
		return err
	}
	r.BodyFile, err = filepath.Abs(r.BodyFile) // --save may write the experiment anywhere
	return err
}

// Named is the error of a file of the experiment, or nil, with the flag in place of the key.
func (f *Flags) Named(err error) error {
	var input *experiment.InputError
	if !errors.As(err, &input) {
		return err
	}
	switch {
	case input.Key == "body_file" && f.Ask.Input != nil:
		return fmt.Errorf("%s: %w", f.Ask.Input.Flag, input.Err)
	case input.Key == "body_file":
		return fmt.Errorf("--body %s: %w", f.Body, input.Err)
	case input.Key == "ca_file":
		return fmt.Errorf("--cacert: %w", input.Err)
	}
	return err
}

// saves checks that --save can write its file.
func (f *Flags) saves() error {
	if f.Save == "" {
		return nil
	}
	if _, err := os.Lstat(f.Save); err == nil {
		return fmt.Errorf("--save %s: the file is there already; name another", f.Save)
	}
	folder := filepath.Dir(f.Save)
	switch info, err := os.Stat(folder); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--save %s: the folder %s does not exist; make it first", f.Save, folder)
	case err != nil:
		return fmt.Errorf("--save %s: %w", f.Save, err)
	case !info.IsDir():
		return fmt.Errorf("--save %s: %s is not a folder", f.Save, folder)
	}
	return nil
}
