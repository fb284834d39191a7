package main

import "errors"

// freezeJob is a run on a service that freezes.
type freezeJob struct {
	job
	of *freezeCase
}

// freezeJobs are runs of all tools for the first case, and of the tools that may be
// truthful for the others.
func (b *bench) freezeJobs() (all []freezeJob) {
	if !b.want("freeze") {
		return nil
	}
	for i := range freezes {
		c := &freezes[i]
		tools := b.these(agentAlone, ohaCorrected)
		if i == 0 {
			tools = b.these(agentAlone, wholeLoad, ohaCorrected, oha, h2load, fortio)
		}
		for _, t := range tools {
			all = append(all, freezeJob{job{c.Name, 0, t, load{Seconds: c.seconds(), Connections: c.Connections, Rate: c.Rate, Even: true}}, c})
		}
	}
	return all
}

func (b *bench) doFreeze(j freezeJob) error {
	t, late, err := startFreezing(b.ctx, j.of.Service, j.of.from(), b.server)
	if err != nil {
		return err
	}
	r, err := b.run(j.job, t)
	truth := j.of.truth()
	var err2 error
	truth.Late, err2 = late()
	r.Freeze = &truth
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	b.keep(r)
	return nil
}
