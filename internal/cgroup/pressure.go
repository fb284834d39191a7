package cgroup

import (
	"bytes"
	"fmt"
	"math"
	"time"
)

// Pressure is the pressure stall information (PSI) of a group. It belongs to
// v2: on a hybrid host it is that of the process's group in the v2 hierarchy.
// Absent where the kernel was built or started without it, or it is switched
// off for the group.
type Pressure struct {
	CPU, Memory, IO PSI
}

// PSI is the pressure on one resource. Some is the share of time in which at
// least one task waited for it, Full that in which all did.
type PSI struct {
	Some, Full Value[Stall]
}

// Stall is how long tasks stalled.
type Stall struct {
	Avg10 float64       // percent of the last 10 seconds, 0 to 100
	Total time.Duration // since the making of the group
}

func (p *Pressure) unreadable(err error) {
	p.CPU.unreadable(err)
	p.Memory.unreadable(err)
	p.IO.unreadable(err)
}

func (p *PSI) unreadable(err error) {
	p.Some, p.Full = UnreadableValue[Stall](err), UnreadableValue[Stall](err)
}

// parsePressure parses cpu.pressure, memory.pressure or io.pressure.
//
//	some avg10=0.09 avg60=0.91 avg300=1.11 total=6472344
//	full avg10=0.00 avg60=0.00 avg300=0.00 total=0
//
// The averages are in percent, the total in microseconds. CPU pressure has no
// full line before Linux 5.13. Linux Documentation/accounting/psi.rst.
func parsePressure(b []byte, p *PSI) error {
	for len(b) > 0 {
		kind, fields, rest, err := nextKey(b)
		if err != nil {
			return err
		}
		b = rest
		switch string(kind) {
		case "some":
			err = parseStall(fields, &p.Some)
		case "full":
			err = parseStall(fields, &p.Full)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// parseStall parses the fields of a line of pressure.
func parseStall(fields []byte, v *Value[Stall]) error {
	var stall Stall
	var err error
	hasAvg10, hasTotal := false, false
	for len(fields) > 0 && err == nil {
		field := fields
		if i := bytes.IndexByte(fields, ' '); i >= 0 {
			field, fields = fields[:i], fields[i+1:]
		} else {
			fields = nil
		}
		i := bytes.IndexByte(field, '=')
		if i < 0 {
			return malformed("field without =", field)
		}
		switch string(field[:i]) {
		case "avg10":
			stall.Avg10, err = parsePercent(field[i+1:])
			hasAvg10 = true
		case "total":
			stall.Total, err = parseTime(field[i+1:], time.Microsecond)
			hasTotal = true
		}
	}
	if err == nil && !(hasAvg10 && hasTotal) {
		err = malformed("avg10 or total missing", fields)
	}
	if err == nil {
		*v = ValueOf(stall)
	}
	return err
}

// parsePercent parses a percentage with decimals, such as 0.09.
func parsePercent(b []byte) (float64, error) {
	i := bytes.IndexByte(b, '.')
	if i < 0 {
		return 0, malformed("percentage without decimals", b)
	}
	whole, err := parseInt(b[:i])
	if err != nil {
		return 0, err
	}
	decimals := b[i+1:]
	part, err := parseInt(decimals)
	if err != nil {
		return 0, err
	}
	percent := float64(whole) + float64(part)/math.Pow10(len(decimals))
	if percent > 100 {
		return 0, malformed("percentage above 100", b)
	}
	return percent, nil
}
