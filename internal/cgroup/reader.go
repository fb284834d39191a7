package cgroup

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Reader reads the counters of a group over and over. It keeps the files open
// and reads each with one pread into a buffer of its own; as long as nothing
// fails it does not allocate.
//
// Its methods fill in every field, with one of the three answers each. They
// return an error only if the group is gone ([ErrGone]) or the Reader closed
// (os.ErrClosed); everything they were to fill in is then unreadable.
//
// A Reader must be closed. It is not for use by several goroutines at once.
type Reader struct {
	cpuStat      file
	cpuStatLocal file
	usage        file // cpuacct of v1; v2 has these in cpu.stat
	usageUser    file
	usageSys     file

	memCurrent     file
	memPeak        file
	memStat        file
	memEvents      file // memory.events
	memEventsLocal file // memory.events.local, memory.oom_control in v1

	cpuPressure    file
	memoryPressure file
	ioPressure     file

	// memory.stat, by far the longest of them, has 2 KiB.
	buf [8 << 10]byte
}

// Open opens the files that a Reader reads. A file that cannot be opened makes
// the fields that it holds absent or unreadable; it is an error only if nothing
// is left of the group or it was never located.
func (g Group) Open() (*Reader, error) {
	if !g.located {
		return nil, fmt.Errorf("open a control group: %w", errNotLocated)
	}
	r := new(Reader)
	r.openCPU(g)
	r.openMemory(g)
	r.openPressure(g)
	if err := r.gone(); err != nil {
		return nil, fmt.Errorf("open a control group: %w", err)
	}
	return r, nil
}

// gone returns the ErrGone of a group of which nothing is left: on v1 its
// directories are removed one after the other.
func (r *Reader) gone() (err error) {
	for _, f := range r.files() {
		if f.opened {
			return nil
		}
		if errors.Is(f.err, ErrGone) {
			err = f.err
		}
	}
	return err
}

func (r *Reader) openCPU(g Group) {
	r.cpuStat = g.open(CPU, "cpu.stat", "cpu.stat")
	r.cpuStatLocal = g.open(CPU, "cpu.stat.local", "cpu.stat.local")
	if p, ok := g.Place(CPU).Get(); ok && p.Version == V2 {
		return
	}
	r.usage = g.open(CPUAcct, "cpuacct.usage", "")
	r.usageUser = g.open(CPUAcct, "cpuacct.usage_user", "")
	r.usageSys = g.open(CPUAcct, "cpuacct.usage_sys", "")
}

func (r *Reader) openMemory(g Group) {
	r.memCurrent = g.open(Memory, "memory.usage_in_bytes", "memory.current")
	r.memPeak = g.open(Memory, "memory.max_usage_in_bytes", "memory.peak")
	r.memStat = g.open(Memory, "memory.stat", "memory.stat")
	r.memEvents = g.open(Memory, "", "memory.events")
	r.memEventsLocal = g.open(Memory, "memory.oom_control", "memory.events.local")
}

// openPressure opens nothing if a hybrid host has the group in a v1 hierarchy
// only: the root of the v2 hierarchy, where its processes then are, has the
// pressure of the whole host.
func (r *Reader) openPressure(g Group) {
	cpu, _ := g.Place(CPU).Get()
	unified, ok := g.Place(Unified).Get()
	if ok && cpu.Version == V1 && unified.Dir == unified.Top {
		return
	}
	r.cpuPressure = g.open(Unified, "", "cpu.pressure")
	r.memoryPressure = g.open(Unified, "", "memory.pressure")
	r.ioPressure = g.open(Unified, "", "io.pressure")
}

// Close closes the files.
func (r *Reader) Close() error {
	var errs []error
	for _, f := range r.files() {
		errs = append(errs, f.close(os.ErrClosed))
	}
	return errors.Join(errs...)
}

func (r *Reader) files() []*file {
	return []*file{
		&r.cpuStat, &r.cpuStatLocal, &r.usage, &r.usageUser, &r.usageSys,
		&r.memCurrent, &r.memPeak, &r.memStat, &r.memEvents, &r.memEventsLocal,
		&r.cpuPressure, &r.memoryPressure, &r.ioPressure,
	}
}

// over returns err if it ends all reading: the group is gone or the Reader
// closed.
func over(err error) error {
	if err != nil && (errors.Is(err, ErrGone) || errors.Is(err, os.ErrClosed)) {
		return err
	}
	return nil
}

// ReadThrottling reads cpu.stat only, with one system call, for frequent polling.
// Values of other files are absent.
func (r *Reader) ReadThrottling(s *CPUStat) error {
	*s = CPUStat{}
	data, err := r.cpuStat.read(r.buf[:])
	if err == nil {
		err = r.cpuStat.about(parseCPUStat(data, s))
	}
	if err == nil {
		return nil
	}
	if over(err) != nil {
		s.unreadable(err)
		return err
	}
	s.statUnreadable(err)
	if r.cpuStat.version == V2 {
		s.usageUnreadable(err)
	}
	return nil
}

// ReadCPU reads everything about CPU time: two files on v2, five on v1.
func (r *Reader) ReadCPU(s *CPUStat) error {
	err := r.ReadThrottling(s)
	if err == nil {
		err = r.readThrottledLocal(s)
	}
	if err == nil && r.cpuStat.version != V2 {
		err = r.readUsage(s)
	}
	if err != nil {
		s.unreadable(err)
	}
	return err
}

func (r *Reader) readThrottledLocal(s *CPUStat) error {
	data, err := r.cpuStatLocal.read(r.buf[:])
	if err == nil {
		err = r.cpuStatLocal.about(parseCPUStatLocal(data, &s.ThrottledLocal))
	}
	if err != nil {
		s.ThrottledLocal = UnreadableValue[time.Duration](err)
	}
	return over(err)
}

// readUsage reads the files of cpuacct, which are in nanoseconds.
// Linux kernel/sched/cpuacct.c.
func (r *Reader) readUsage(s *CPUStat) error {
	if err := over(readInto(&r.usage, r.buf[:], &s.Usage)); err != nil {
		return err
	}
	if err := over(readInto(&r.usageUser, r.buf[:], &s.User)); err != nil {
		return err
	}
	return over(readInto(&r.usageSys, r.buf[:], &s.System))
}

// ReadMemory reads everything about memory: five files on v2, four on v1.
func (r *Reader) ReadMemory(s *MemoryStat) error {
	*s = MemoryStat{}
	err := over(readInto(&r.memCurrent, r.buf[:], &s.Current))
	if err == nil {
		err = over(readInto(&r.memPeak, r.buf[:], &s.Peak))
	}
	if err == nil {
		err = r.readMemoryStat(s)
	}
	if err == nil {
		err = r.readMemoryEvents(&r.memEvents, &s.OOMKills, nil)
	}
	if err == nil {
		err = r.readMemoryEvents(&r.memEventsLocal, &s.OOMKillsLocal, &s.HighEvents)
	}
	if err != nil {
		s.unreadable(err)
	}
	return err
}

func (r *Reader) readMemoryStat(s *MemoryStat) error {
	data, err := r.memStat.read(r.buf[:])
	if err == nil {
		err = r.memStat.about(parseMemoryStat(r.memStat.version, data, s))
	}
	if err != nil {
		size := UnreadableValue[int64](err)
		s.Anon, s.File, s.InactiveFile, s.ActiveFile, s.SlabReclaimable, s.Refaults, s.MajorFaults = size, size, size, size, size, size, size
	}
	return over(err)
}

func (r *Reader) readMemoryEvents(f *file, kills, high *Value[int64]) error {
	data, err := f.read(r.buf[:])
	if err == nil {
		err = f.about(parseMemoryEvents(data, kills, high))
	}
	if err != nil {
		*kills = UnreadableValue[int64](err)
		if high != nil {
			*high = *kills
		}
	}
	return over(err)
}

// ReadPressure reads the pressure on all three resources.
func (r *Reader) ReadPressure(p *Pressure) error {
	*p = Pressure{}
	err := r.readPSI(&r.cpuPressure, &p.CPU)
	if err == nil {
		err = r.readPSI(&r.memoryPressure, &p.Memory)
	}
	if err == nil {
		err = r.readPSI(&r.ioPressure, &p.IO)
	}
	if err != nil {
		p.unreadable(err)
	}
	return err
}

func (r *Reader) readPSI(f *file, p *PSI) error {
	data, err := f.read(r.buf[:])
	if err == nil {
		err = f.about(parsePressure(data, p))
	}
	if err != nil {
		p.unreadable(err)
	}
	return over(err)
}
