package cgroup

import "fmt"

// Populated reports whether there are processes in the group or in those below it,
// regardless of their pid namespace. On v1 it is about the hierarchy of the pids
// controller.
//
// cgroup.events of v2 has "populated 0" or "populated 1"; pids.current of v1 is the number
// of processes and threads. Linux Documentation/admin-guide/cgroup-v2.rst,
// cgroup-v1/pids.rst.
func (g Group) Populated() Value[bool] {
	p, ok := g.Place(PIDs).Get()
	if !ok {
		return answer[bool](g.Place(PIDs).Err())
	}
	name, parse := "cgroup.events", parsePopulated
	if p.Version == V1 {
		name, parse = "pids.current", parseNumber
	}
	data, err := g.fs.read(p.Dir, name)
	if err != nil || data == nil {
		return answer[bool](err)
	}
	n, err := parse(data)
	if err != nil {
		return UnreadableValue[bool](g.fs.at(p.Dir, name, err))
	}
	return ValueOf(n != 0)
}

// parsePopulated returns the value of populated in cgroup.events.
func parsePopulated(b []byte) (int64, error) {
	for len(b) > 0 {
		key, value, rest, err := nextKey(b)
		if err != nil {
			return 0, err
		}
		if string(key) == "populated" {
			return parseInt(value)
		}
		b = rest
	}
	return 0, fmt.Errorf("%w: no populated", ErrMalformed)
}
