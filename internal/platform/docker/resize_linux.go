package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
)

// Resize changes the limits of every replica, as docker update does. A replica that is
// restarting gets them too.
func (u *unit) Resize(ctx context.Context, l experiment.Limits) error {
	for i, r := range u.replicas {
		if err := r.resize(ctx, l); err != nil {
			return fmt.Errorf("resize replica %d: %w", i, err)
		}
	}
	return nil
}

func (r *replica) resize(ctx context.Context, l experiment.Limits) error {
	was := r.limited()
	if was.Memory != 0 && l.Memory == 0 {
		return errors.New("Docker cannot remove a memory limit while a container runs")
	}
	return r.guard.Set(l, func() error { return r.update(ctx, was, l) })
}

// update changes the limits of the container.
func (r *replica) update(ctx context.Context, was, l experiment.Limits) error {
	r.mu.Lock()
	alive := r.now
	r.limits = l // for an instance that begins meanwhile
	r.mu.Unlock()
	place, there := alive.place()
	if there && was.BurstMillis != 0 { // it must not exceed the new quota
		if err := writeBurst(place, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("end the CPU burst: %w", err)
		}
	}
	changed := r.docker.engine.resources(l)
	if l.CPUMillis == 0 && was.CPUMillis != 0 {
		changed.CPUQuota = -1 // 0 would keep the quota
	}
	if l.RequestMillis == 0 && was.RequestMillis != 0 {
		changed.CPUShares = cgroup.Shares(1000) // 0 would keep them; these are Docker's default
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if _, err := r.docker.api.ContainerUpdate(ctx, r.id, client.ContainerUpdateOptions{Resources: &changed}); err != nil {
		return fmt.Errorf("update the container: %w", err)
	}
	if there {
		if err := setBurst(place, l); err != nil {
			return err
		}
	}
	r.counters.resized(l)
	return nil
}

// place is the directory of the group of an instance; false if it has none.
func (l *instance) place() (cgroup.Place, bool) {
	if l == nil || l.group == "" {
		return cgroup.Place{}, false
	}
	group, err := cgroup.Host().At(l.group)
	if err != nil {
		return cgroup.Place{}, false
	}
	return group.Place(cgroup.CPU).Get()
}
