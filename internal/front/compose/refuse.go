package compose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/platform"
)

// refuse reports keys with which a service cannot run here, and notes those without an
// effect that could matter.
func (t *translator) refuse(s *types.ServiceConfig, measured bool) {
	override := t.override
	for _, c := range []struct {
		key  string
		used bool
		do   string
	}{
		{"network_mode", s.NetworkMode != "" && s.NetworkMode != "bridge" && s.NetworkMode != "default", "services run in one network of the run, by their names; " + override},
		{"pid", s.Pid != "", "processes of other containers would be measured with it; " + override},
		{"ipc", s.Ipc != "" && s.Ipc != "private" && s.Ipc != "shareable", "it shares memory with other containers; " + override},
		{"uts", s.Uts != "", override},
		{"cgroup", s.Cgroup != "" && s.Cgroup != "private", override},
		{"cgroup_parent", s.CgroupParent != "", "Millicore reads the control group that Docker makes; " + override},
		{"userns_mode", s.UserNSMode != "", override},
		{"runtime", s.Runtime != "" && s.Runtime != "runc", "only runc is measured; " + override},
		{"isolation", s.Isolation != "", override},
		{"devices", len(s.Devices) > 0, "devices are not passed on; " + override},
		{"gpus", len(s.Gpus) > 0, "devices are not passed on; " + override},
		{"device_cgroup_rules", len(s.DeviceCgroupRules) > 0, override},
		{"volumes_from", len(s.VolumesFrom) > 0, "name the volumes in both services"},
		{"external_links", len(s.ExternalLinks) > 0, "containers of others are not reached; name a service of the file in depends_on"},
		{"provider", s.Provider != nil, "it is no container"},
		{"models", len(s.Models) > 0, "models are not started; " + override},
		{"credential_spec", s.CredentialSpec != nil, override},
		{"use_api_socket", s.UseAPISocket, override},
		{"pre_start", len(s.PreStart) > 0, "hooks are not run; make it a service with service_completed_successfully"},
		{"post_start", len(s.PostStart) > 0, "hooks are not run; make it a service with service_completed_successfully"},
		{"dns", len(s.DNS)+len(s.DNSSearch)+len(s.DNSOpts) > 0, "names are those of the run's network; " + override},
		{"image", s.Image == "" && s.Build == nil, "neither image nor build: there is nothing to start"},
	} {
		if c.used {
			t.wrong(s, c.key, "%s", c.do)
		}
	}
	if d := s.Deploy; d != nil && d.Resources.Reservations != nil && len(d.Resources.Reservations.Devices) > 0 {
		t.wrong(s, "deploy.resources.reservations.devices", "devices are not passed on; %s", override)
	}
	networks := slices.Sorted(maps.Keys(s.Networks))
	for _, name := range networks {
		if t.project.Networks[name].External {
			t.notes = append(t.notes, fmt.Sprintf("The network %s of %s is external: what others run in it is not reached.", name, s.Name))
		}
	}
	scaled := "scale"
	if s.Scale == nil {
		scaled = "deploy.replicas"
	}
	var ignored []string
	for key, used := range map[string]bool{
		"cpuset":     measured && s.CPUSet != "",
		"cpu_shares": measured && s.CPUShares != 0,
		scaled:       s.GetScale() != 1,
		"platform":   s.Platform != "",
		"networks.ipv4_address": slices.ContainsFunc(networks, func(name string) bool {
			return s.Networks[name] != nil && s.Networks[name].Ipv4Address != ""
		}),
	} {
		if used {
			ignored = append(ignored, key)
		}
	}
	if len(ignored) > 0 {
		slices.Sort(ignored)
		t.notes = append(t.notes, fmt.Sprintf("%s of %s has no effect here.", phrase.List(ignored), s.Name))
	}
}

// conditions sets what the start of each dependency waits for: the strongest condition under
// which another service depends on it.
func (p *Project) conditions(read *types.Project) {
	for i := range p.Needs {
		need := &p.Needs[i]
		need.Settings.Until = platform.Started
		for _, s := range read.Services {
			switch s.DependsOn[need.Name].Condition {
			case types.ServiceConditionHealthy:
				need.Settings.Until = max(need.Settings.Until, platform.Healthy)
			case types.ServiceConditionCompletedSuccessfully:
				need.Settings.Until = platform.Completed
			}
		}
	}
}

// leaves notes which of all services are not started.
func (p *Project) leaves(all []string) {
	all = slices.DeleteFunc(all, p.uses)
	if len(all) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("Not started, because %s does not depend on it: %s.", p.Service.Name, strings.Join(all, ", ")))
	}
}

// uses reports whether a service is the measured one or one that it needs.
func (p *Project) uses(name string) bool {
	return name == p.Service.Name || slices.ContainsFunc(p.Needs, func(s Service) bool { return s.Name == name })
}
