package compose

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
)

// Service is one service of a compose file.
type Service struct {
	Name     string             `json:"name"` // in the file
	Unit     string             `json:"unit"` // in the experiment
	Image    string             `json:"image"`
	Built    bool               `json:"built,omitempty"` // the file has a build section for it
	Args     []string           `json:"args,omitempty"`  // nil: those of the image
	Env      map[string]string  `json:"-"`
	User     string             `json:"user,omitempty"`
	Dir      string             `json:"dir,omitempty"`
	Ports    []int              `json:"ports,omitempty"`   // that it names, TCP only
	Volumes  []string           `json:"volumes,omitempty"` // paths of this machine
	CPU      float64            `json:"cpu,omitempty"`     // its limit; 0: none
	Memory   int64              `json:"memory,omitempty"`  // likewise, in bytes
	PIDs     int                `json:"pids,omitempty"`    // likewise
	Timeout  time.Duration      `json:"-"`                 // to be healthy; 0: the default
	Settings platform.Container `json:"-"`
}

// translator makes units of services, and collects what is wrong.
type translator struct {
	project  *types.Project
	override string // what to do with a key that cannot be measured
	services []Service
	notes    []string
	errs     []error
}

func (t *translator) wrong(s *types.ServiceConfig, key, format string, args ...any) {
	t.errs = append(t.errs, fmt.Errorf("services.%s.%s: %s", s.Name, key, fmt.Sprintf(format, args...)))
}

// service is a service as a unit has it.
func (t *translator) service(s *types.ServiceConfig) Service {
	one := Service{Name: s.Name, Unit: unitName(s.Name), Image: s.Image, Built: s.Build != nil, Args: s.Command, Env: map[string]string{}, User: s.User, Dir: s.WorkingDir, Ports: portsOf(s)}
	if one.Image == "" {
		one.Image = t.project.Name + "-" + s.Name
	}
	for name, value := range s.Environment {
		if value != nil {
			one.Env[name] = *value
		}
	}
	one.CPU, one.Memory, one.PIDs = limitsOf(s)
	c := &one.Settings
	*c = platform.Container{Names: t.namesOf(s), Entrypoint: s.Entrypoint, Hostname: s.Hostname, StopSignal: s.StopSignal,
		OpenStdin: s.StdinOpen || s.Tty, Init: s.Init, Privileged: s.Privileged, ReadOnly: s.ReadOnly, CapAdd: s.CapAdd, CapDrop: s.CapDrop, GroupAdd: s.GroupAdd, SecurityOpt: s.SecurityOpt,
		ExtraHosts: s.ExtraHosts.AsList(":"), Sysctls: s.Sysctls, ShmSize: int64(s.ShmSize)}
	for name, u := range s.Ulimits {
		if c.Ulimits == nil {
			c.Ulimits = map[string][2]int64{}
		}
		c.Ulimits[name] = [2]int64{int64(cmp.Or(u.Soft, u.Single)), int64(cmp.Or(u.Hard, u.Single))}
	}
	t.addMounts(s, &one)
	t.addHealth(s, &one)
	return one
}

// addMounts adds the volumes, secrets and configs of a service.
func (t *translator) addMounts(s *types.ServiceConfig, one *Service) {
	for _, v := range s.Volumes {
		options := ""
		if v.ReadOnly {
			options = "ro"
		}
		switch v.Type {
		case types.VolumeTypeBind:
			if _, err := os.Stat(v.Source); err != nil {
				t.wrong(s, "volumes", "%s is not there: make it first, because Docker would make a folder of root's, which stays", v.Source)
			}
			one.Volumes = append(one.Volumes, experiment.Volume{Source: v.Source, Target: v.Target, Options: options}.String())
		case types.VolumeTypeVolume:
			switch declared := t.project.Volumes[v.Source]; {
			case v.Source == "":
				one.Volumes = append(one.Volumes, v.Target)
			case bool(declared.External):
				t.wrong(s, "volumes", "%s is external: what it holds would be changed by the load; measure with a copy, or leave external out in an override file", v.Source)
			case declared.Driver != "" && declared.Driver != "local" || len(declared.DriverOpts) > 0:
				t.wrong(s, "volumes", "%s has a driver or driver_opts: its data would outlive the run; leave them out in an override file", v.Source)
			default:
				one.Settings.Volumes = append(one.Settings.Volumes, experiment.Volume{Source: v.Source, Target: v.Target, Options: options}.String())
			}
			if v.Volume != nil && v.Volume.Subpath != "" {
				t.wrong(s, "volumes", "subpath of %s is not supported: mount the whole volume", v.Source)
			}
		case types.VolumeTypeTmpfs:
			options := ""
			if v.Tmpfs != nil && v.Tmpfs.Size > 0 {
				options = "size=" + strconv.FormatInt(int64(v.Tmpfs.Size), 10)
			}
			tmpfs(&one.Settings, v.Target, options)
		default:
			t.wrong(s, "volumes", "type %s is not supported: write bind, volume or tmpfs", v.Type)
		}
	}
	for _, text := range s.Tmpfs {
		at, options, _ := strings.Cut(text, ":")
		tmpfs(&one.Settings, at, options)
	}
	for _, use := range s.Secrets {
		t.addFile(s, "secrets", types.FileReferenceConfig(use), types.FileObjectConfig(t.project.Secrets[use.Source]), "/run/secrets/", one)
	}
	for _, use := range s.Configs {
		t.addFile(s, "configs", types.FileReferenceConfig(use), types.FileObjectConfig(t.project.Configs[use.Source]), "/", one)
	}
	for _, text := range slices.Concat(one.Volumes, one.Settings.Volumes) {
		if _, err := experiment.SplitVolume(text); err != nil {
			t.wrong(s, "volumes", "%v", err)
		}
	}
}

func tmpfs(c *platform.Container, at, options string) {
	if c.Tmpfs == nil {
		c.Tmpfs = map[string]string{}
	}
	c.Tmpfs[at] = options
}

// addFile mounts the file of a secret or of a config.
func (t *translator) addFile(s *types.ServiceConfig, key string, use types.FileReferenceConfig, of types.FileObjectConfig, folder string, one *Service) {
	if of.File == "" {
		t.wrong(s, key, "%s is not a file: write its value into one, and name it with file: in an override file", use.Source)
		return
	}
	if _, err := os.Stat(of.File); err != nil {
		t.wrong(s, key, "the file of %s, %s, is not there", use.Source, of.File)
	}
	target := cmp.Or(use.Target, use.Source)
	if !path.IsAbs(target) {
		target = folder + target
	}
	one.Volumes = append(one.Volumes, experiment.Volume{Source: of.File, Target: target, Options: "ro"}.String())
}

// addHealth adds the health check of a service, and how long it may take to succeed.
func (t *translator) addHealth(s *types.ServiceConfig, one *Service) {
	h := s.HealthCheck
	if h == nil {
		return
	}
	c := &one.Settings
	switch {
	case h.Disable || len(h.Test) > 0 && h.Test[0] == "NONE":
		c.NoHealth = true
	case len(h.Test) > 1 && h.Test[0] == "CMD":
		c.Health = h.Test[1:]
	case len(h.Test) == 2 && h.Test[0] == "CMD-SHELL":
		c.Health = []string{"/bin/sh", "-c", h.Test[1]}
	case len(h.Test) > 0:
		t.wrong(s, "healthcheck.test", "%q is no command: write a string, or a list that begins with CMD or CMD-SHELL", h.Test)
	}
	duration := func(d *types.Duration, otherwise time.Duration) time.Duration {
		if d == nil {
			return otherwise
		}
		return time.Duration(*d)
	}
	c.HealthTimeout = duration(h.Timeout, 0)
	retries := uint64(3)
	if h.Retries != nil {
		retries = min(*h.Retries, 1000)
	}
	one.Timeout = duration(h.StartPeriod, 0) + time.Duration(retries)*duration(h.Interval, 30*time.Second)
}

// namesOf are the names by which others reach a service. The alias of a link is one for all
// services, as all are in one network.
func (t *translator) namesOf(s *types.ServiceConfig) []string {
	all := map[string]bool{s.Name: true}
	if s.ContainerName != "" {
		all[s.ContainerName] = true
	}
	for _, n := range s.Networks {
		if n != nil {
			for _, alias := range n.Aliases {
				all[alias] = true
			}
		}
	}
	for _, other := range t.project.Services {
		for _, link := range other.Links {
			if name, alias, ok := strings.Cut(link, ":"); ok && name == s.Name {
				all[alias] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// portsOf are the TCP ports that a service names: those that it publishes, else those that
// it exposes.
func portsOf(s *types.ServiceConfig) []int {
	var all []int
	add := func(port int) {
		if port > 0 && port < 1<<16 && !slices.Contains(all, port) {
			all = append(all, port)
		}
	}
	for _, p := range s.Ports {
		if p.Protocol == "" || p.Protocol == "tcp" {
			add(int(p.Target))
		}
	}
	if len(all) == 0 {
		for _, text := range s.Expose {
			port, err := strconv.Atoi(strings.TrimSuffix(text, "/tcp"))
			if err == nil {
				add(port)
			}
		}
	}
	return all
}

// limitsOf are the limits of a service, those of deploy first.
func limitsOf(s *types.ServiceConfig) (cpu float64, memory int64, pids int) {
	cpu, memory, pids = float64(s.CPUS), int64(s.MemLimit), int(max(s.PidsLimit, 0))
	if s.CPUQuota > 0 {
		cpu = float64(s.CPUQuota) / float64(cmp.Or(s.CPUPeriod, 100_000))
	}
	if d := s.Deploy; d != nil && d.Resources.Limits != nil {
		l := d.Resources.Limits
		cpu, memory = cmp.Or(float64(l.NanoCPUs.Value()), cpu), cmp.Or(int64(l.MemoryBytes), memory)
		pids = cmp.Or(int(max(l.Pids, 0)), pids)
	}
	return math.Round(cpu*1000) / 1000, memory, pids
}

// reserved are names that the services of try have.
var reserved = []string{"as-is", "no-limit", "request-only", "new", "old"}

// unitName is a name of the experiment for a service.
func unitName(name string) string {
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name)), "-")
	if slices.Contains(reserved, name) {
		name += "-service"
	}
	return cmp.Or(name[:min(len(name), 60)], "service")
}
