package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/host/proc"
)

// look is how long the machine is watched before a run.
const look = 300 * time.Millisecond

// quiet waits until other processes use little CPU, up to a maximum time: then the run
// is less likely to be disturbed.
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

// readings are CPU times of the machine and of the processes.
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
	stat, err := proc.ParseStat(data)
	if err != nil {
		return r, err
	}
	r.target = stat.Used()
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
