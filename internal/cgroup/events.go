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
	return g.event(PIDs, "populated", "pids.current", parseNumber)
}

// Frozen reports whether the group, or one above it, is frozen, or is about to be: none of
// its processes runs until it is thawed. `docker pause` freezes the group of a container.
//
// cgroup.events of v2 has "frozen 0" or "frozen 1"; freezer.state of v1 is THAWED,
// FREEZING or FROZEN. Linux Documentation/admin-guide/cgroup-v2.rst,
// cgroup-v1/freezer-subsystem.rst.
func (g Group) Frozen() Value[bool] {
	return g.event(Freezer, "frozen", "freezer.state", parseFreezerState)
}

// event returns whether a key of cgroup.events of v2, or a file of v1, is not 0.
func (g Group) event(c Controller, key, v1 string, parse func([]byte) (int64, error)) Value[bool] {
	p, ok := g.Place(c).Get()
	if !ok {
		return answer[bool](g.Place(c).Err())
	}
	name := v1
	if p.Version == V2 {
		name, parse = "cgroup.events", func(b []byte) (int64, error) { return parseEvent(b, key) }
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

// parseEvent returns the value of a key in cgroup.events.
func parseEvent(b []byte, want string) (int64, error) {
	for len(b) > 0 {
		key, value, rest, err := nextKey(b)
		if err != nil {
			return 0, err
		}
		if string(key) == want {
			return parseInt(value)
		}
		b = rest
	}
	return 0, fmt.Errorf("%w: no %s", ErrMalformed, want)
}

// parseFreezerState returns whether freezer.state is another than THAWED.
func parseFreezerState(b []byte) (int64, error) {
	line, _, err := nextLine(b)
	if err != nil {
		return 0, err
	}
	switch string(line) {
	case "THAWED":
		return 0, nil
	case "FREEZING", "FROZEN":
		return 1, nil
	}
	return 0, malformed("want THAWED, FREEZING or FROZEN", line)
}
