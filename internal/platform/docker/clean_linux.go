package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/platform/local"
)

// Clean removes what dead runs left in the daemon of DOCKER_HOST and in the local
// platform. It does not touch living runs, and objects without the labels of a run.
func Clean(ctx context.Context, o Options) (Cleaned, error) {
	here, hereErr := local.Clean(local.Options{State: o.State})
	c := Cleaned{Removed: here.Removed, Living: here.Living}
	api, _, err := connect()
	if err != nil {
		return c, errors.Join(err, hereErr)
	}
	defer api.Close()
	at, err := sweepDead(ctx, api)
	c.Removed = append(c.Removed, at.Removed...)
	for _, pid := range at.Living {
		c.alive(pid)
	}
	return c, errors.Join(err, hereErr)
}

func (c *Cleaned) alive(pid int) {
	if !slices.Contains(c.Living, pid) {
		c.Living = append(c.Living, pid)
	}
}

// removed records the result of a removal. An object that does not exist was removed
// by somebody else.
func (c *Cleaned) removed(what string, err error) error {
	switch {
	case err == nil:
		c.Removed = append(c.Removed, what)
	case !errdefs.IsNotFound(err):
		return fmt.Errorf("remove the %s: %w", what, err)
	}
	return nil
}

// sweepDead removes the objects of dead runs, and records the living runs.
func sweepDead(ctx context.Context, api *client.Client) (Cleaned, error) {
	var c Cleaned
	err := c.sweep(ctx, api, func(o owner) bool {
		alive := o.alive()
		if alive {
			c.alive(o.pid)
		}
		return !alive
	})
	return c, err
}

// sweep removes the objects that an owner made for whom over returns true: containers,
// then their networks, volumes and images. Labels alone do not show who made an object:
// docker commit copies those of a container into an image, and an image passes its own on
// to containers and to images that are built from it, also on another machine. So the
// object must also have the name that the owner gave it.
func (c *Cleaned) sweep(ctx context.Context, api *client.Client, over func(owner) bool) error {
	return errors.Join(c.containers(ctx, api, over), c.networks(ctx, api, over), c.volumes(ctx, api, over), c.images(ctx, api, over))
}

var ours = client.Filters{}.Add("label", labelRun)

func (c *Cleaned) containers(ctx context.Context, api *client.Client, over func(owner) bool) error {
	list, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ours})
	if err != nil {
		return fmt.Errorf("list containers of earlier runs: %w", err)
	}
	var errs []error
	for _, one := range list.Items {
		o, ok := ownerOf(one.Labels)
		if ok && slices.ContainsFunc(one.Names, o.namedContainer) && over(o) {
			_, err := api.ContainerRemove(ctx, one.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
			errs = append(errs, c.removed("container "+strings.TrimPrefix(strings.Join(one.Names, " "), "/"), err))
		}
	}
	return errors.Join(errs...)
}

func (c *Cleaned) networks(ctx context.Context, api *client.Client, over func(owner) bool) error {
	list, err := api.NetworkList(ctx, client.NetworkListOptions{Filters: ours})
	if err != nil {
		return fmt.Errorf("list networks of earlier runs: %w", err)
	}
	var errs []error
	for _, one := range list.Items {
		o, ok := ownerOf(one.Labels)
		if ok && one.Name == o.network() && over(o) {
			_, err := api.NetworkRemove(ctx, one.ID, client.NetworkRemoveOptions{})
			errs = append(errs, c.removed("network "+one.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (c *Cleaned) volumes(ctx context.Context, api *client.Client, over func(owner) bool) error {
	list, err := api.VolumeList(ctx, client.VolumeListOptions{Filters: ours})
	if err != nil {
		return fmt.Errorf("list volumes of earlier runs: %w", err)
	}
	var errs []error
	for _, one := range list.Items {
		if o, ok := ownerOf(one.Labels); ok && o.namedContainer(one.Name) && over(o) {
			_, err := api.VolumeRemove(ctx, one.Name, client.VolumeRemoveOptions{})
			errs = append(errs, c.removed("volume "+one.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (c *Cleaned) images(ctx context.Context, api *client.Client, over func(owner) bool) error {
	list, err := api.ImageList(ctx, client.ImageListOptions{Filters: ours})
	if err != nil {
		return fmt.Errorf("list images of earlier runs: %w", err)
	}
	var errs []error
	for _, one := range list.Items {
		o, ok := ownerOf(one.Labels)
		if ok && slices.Contains(one.RepoTags, o.image()) && over(o) {
			// By its name: another name that somebody gave it keeps it.
			_, err := api.ImageRemove(ctx, o.image(), client.ImageRemoveOptions{PruneChildren: true})
			errs = append(errs, c.removed("image "+o.image(), err))
		}
	}
	return errors.Join(errs...)
}
