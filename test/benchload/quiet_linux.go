package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// look is for how long the machine is watched before a run.
const look = 300 * time.Millisecond

// quiet waits until others use little of the machine, as long as is allowed: a run
// that begins in peace may end so.
func (b *bench) quiet(t *target) error {
	for began := time.Now(); time.Since(began) < b.await; {
		before, err := b.readings(t)
		if err != nil {
			return err
		}
		select {
		case <-b.ctx.Done():
			return errInterrupted
		case <-time.After(look):
		}
		after, err := b.readings(t)
		if err != nil {
			return err
		}
		if share(after.host.Busy-before.host.Busy+before.target-after.target+before.self-after.self, look) < b.bounds.Foreign {
			return nil
		}
	}
	return nil
}

var errInterrupted = errors.New("interrupted")

// readings are of what uses the machine's CPUs.
type readings struct {
	host         hostCPU
	target, self time.Duration
}

func (b *bench) readings(t *target) (r readings, err error) {
	if r.host, err = host(); err != nil {
		return r, err
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.pid()))
	if err != nil {
		return r, fmt.Errorf("what is loaded has ended: %w", err)
	}
	if r.target, err = parseProcessCPU(string(data)); err != nil {
		return r, err
	}
	var own unix.Rusage
	err = unix.Getrusage(unix.RUSAGE_SELF, &own)
	r.self = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	return r, err
}

func host() (hostCPU, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return hostCPU{}, err
	}
	return parseStat(string(data))
}
