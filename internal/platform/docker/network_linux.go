package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	networks "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// network is the bridge of a run, with the addresses of its containers. A container
// must keep its address over a restart, which Docker guarantees only for addresses
// that were requested.
type network struct {
	id, name string
	subnet   netip.Prefix
	gateway  netip.Addr
	taken    map[netip.Addr]bool
}

// ownNetwork returns the run's network. The first call creates it.
func (d *docker) ownNetwork(ctx context.Context) (*network, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.network != nil {
		return d.network, nil
	}
	if d.closed {
		return nil, errors.New("the platform is closed")
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	made, err := makeNetwork(ctx, d.api, d.owner.network(), d.owner.labels())
	if err != nil {
		return nil, fmt.Errorf("create a network for the run: %w; if Docker has no bridge networks, let the containers use the machine's network: docker: {network: host} in the experiment file, or --set docker.network=host", err)
	}
	d.network = made
	return made, nil
}

// makeNetwork creates a bridge. Addresses can be requested only in a subnet that was
// requested too. The first bridge makes Docker choose a free subnet; the second one
// requests it.
func makeNetwork(ctx context.Context, daemon *client.Client, name string, labels map[string]string) (*network, error) {
	options := client.NetworkCreateOptions{Driver: "bridge", Labels: labels}
	first, err := daemon.NetworkCreate(ctx, name, options)
	if err != nil {
		return nil, err
	}
	seen, err := daemon.NetworkInspect(ctx, first.ID, client.NetworkInspectOptions{})
	_, removeErr := daemon.NetworkRemove(ctx, first.ID, client.NetworkRemoveOptions{})
	if err := errors.Join(err, removeErr); err != nil {
		return nil, err
	}
	for _, config := range seen.Network.IPAM.Config {
		if !config.Subnet.Addr().Is4() || !config.Gateway.Is4() {
			continue
		}
		options.IPAM = &networks.IPAM{Config: []networks.IPAMConfig{{Subnet: config.Subnet, Gateway: config.Gateway}}}
		second, err := daemon.NetworkCreate(ctx, name, options)
		if err != nil {
			return nil, err
		}
		return &network{id: second.ID, name: name, subnet: config.Subnet.Masked(), gateway: config.Gateway, taken: map[netip.Addr]bool{}}, nil
	}
	return nil, errors.New("Docker assigned it no IPv4 addresses")
}

// take reserves an address of the run's network; give releases it.
func (d *docker) take(ctx context.Context) (netip.Addr, *network, error) {
	n, err := d.ownNetwork(ctx)
	if err != nil {
		return netip.Addr{}, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a, err := n.free()
	if err != nil {
		return netip.Addr{}, nil, err
	}
	n.taken[a] = true
	return a, n, nil
}

func (d *docker) give(a netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.network != nil {
		delete(d.network.taken, a)
	}
}

// free is the lowest free address, except the gateway and the broadcast address.
func (n *network) free() (netip.Addr, error) {
	for a := n.subnet.Addr().Next(); n.subnet.Contains(a.Next()); a = a.Next() {
		if a != n.gateway && !n.taken[a] {
			return a, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("all addresses of the run's network %s are in use; run fewer replicas, or give Docker larger address pools", n.subnet)
}
