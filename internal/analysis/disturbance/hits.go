package disturbance

import "github.com/millicore/millicore/internal/analysis/finding"

// hits are the requests of a trial from which others took CPU, by interval. Others take
// CPU from a request if it could have used it: the hypervisor always does, because steal
// time is that of a CPU that had something to run; other processes do if they left no
// CPU idle. The requests that were due count, not those that ended: they do not depend
// on what the service made of them.
type hits struct {
	intervals map[int]*hit // of this trial

	due, neighbour, hypervisor float64 // requests of trials that were merged
	busy, of                   int     // intervals of these
}

// hit is one interval. Its machines share its requests evenly.
type hit struct {
	due                   float64 // requests
	machines              float64
	neighbour, hypervisor float64 // shares of the CPU in use that others took, summed over machines
}

func (h *hits) at(seq int) *hit {
	if h.intervals == nil {
		h.intervals = map[int]*hit{}
	}
	if h.intervals[seq] == nil {
		h.intervals[seq] = &hit{}
	}
	return h.intervals[seq]
}

func (h *hits) client(seq int, due int64) { h.at(seq).due += float64(due) }

// host takes what a machine showed over one interval.
func (h *hits) host(seq int, m *Machine) {
	one := h.at(seq)
	one.machines++
	used := float64(m.CPUs) - m.IdleCores()
	if used <= 0 {
		return
	}
	if Busy(m.ForeignCores(), m.CPUs) && m.full() {
		one.neighbour += min(1, m.ForeignCores()/used)
	}
	if m.busyHypervisor() {
		one.hypervisor += min(1, m.StealCores()/used)
	}
}

// sum is all intervals as those of a trial that was merged.
func (h *hits) sum() hits {
	all := hits{due: h.due, neighbour: h.neighbour, hypervisor: h.hypervisor, busy: h.busy, of: h.of}
	for _, one := range h.intervals {
		all.due += one.due
		all.of++
		if one.machines > 0 {
			all.neighbour += one.due * one.neighbour / one.machines
			all.hypervisor += one.due * one.hypervisor / one.machines
		}
		if one.neighbour+one.hypervisor > 0 {
			all.busy++
		}
	}
	return all
}

func (h *hits) merge(o *hits) {
	all := o.sum()
	h.due += all.due
	h.neighbour += all.neighbour
	h.hypervisor += all.hypervisor
	h.busy, h.of = h.busy+all.busy, h.of+all.of
}

// sources returns who took CPU from more than a share of the requests.
func (h *hits) sources(share float64) (by finding.Source) {
	all := h.sum()
	if all.neighbour > share*all.due {
		by |= finding.Neighbour
	}
	if all.hypervisor > share*all.due {
		by |= finding.Hypervisor
	}
	return by
}

// found returns from how many requests others took CPU.
func (h *hits) found(by finding.Source) finding.Finding {
	all := h.sum()
	return finding.Finding{Kind: finding.TookFromRequests, Who: by, Share: min(1, (all.neighbour+all.hypervisor)/all.due), N: all.busy, Of: all.of}
}
