package cgroup

import (
	"bytes"
	"fmt"
	"math"
	"time"
)

// The parsers take the bytes of a whole file and allocate only for an error.
// A last line without its newline is refused: the kernel always writes one, so
// the reading was cut short and its last number may lack digits.

// nextLine cuts the first line off b.
func nextLine(b []byte) (line, rest []byte, err error) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return nil, nil, malformed("line without an end", b)
	}
	return b[:i], b[i+1:], nil
}

// nextKey cuts the first line off the bytes of a flat keyed file, and the line
// into key and value.
//
//	KEY0 VAL0\n
//	KEY1 VAL1\n
//
// Linux Documentation/admin-guide/cgroup-v2.rst, "Format".
func nextKey(b []byte) (key, value, rest []byte, err error) {
	line, rest, err := nextLine(b)
	if err != nil {
		return nil, nil, nil, err
	}
	i := bytes.IndexByte(line, ' ')
	if i <= 0 {
		return nil, nil, nil, malformed("line without key and value", line)
	}
	return line[:i], line[i+1:], rest, nil
}

// parseNumber parses a file of one number, such as cpuacct.usage,
// memory.current, cpu.cfs_period_us or cpu.max.burst.
//
//	VAL\n
func parseNumber(b []byte) (int64, error) {
	line, rest, err := nextLine(b)
	if err != nil {
		return 0, err
	}
	if len(rest) > 0 {
		return 0, malformed("more than one line", rest)
	}
	return parseInt(line)
}

// parseMax parses a file of one number or the word max, such as memory.max.
func parseMax(b []byte) (n int64, unlimited bool, err error) {
	if string(b) == "max\n" {
		return 0, true, nil
	}
	n, err = parseNumber(b)
	return n, false, err
}

// parseCPUMax parses cpu.max, whose two numbers are in microseconds.
//
//	$MAX $PERIOD\n
//
// "which indicates that the group may consume up to $MAX in each $PERIOD
// duration. "max" for $MAX indicates no limit."
// Linux Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files".
//
// quota is 0 where there is no limit.
func parseCPUMax(b []byte) (quota, period time.Duration, err error) {
	first, second, rest, err := nextKey(b)
	if err != nil {
		return 0, 0, err
	}
	if len(rest) > 0 {
		return 0, 0, malformed("more than one line", rest)
	}
	if period, err = parsePositiveMicros(second); err != nil {
		return 0, 0, fmt.Errorf("period: %w", err)
	}
	if string(first) == "max" {
		return 0, period, nil
	}
	if quota, err = parsePositiveMicros(first); err != nil {
		return 0, 0, fmt.Errorf("quota: %w", err)
	}
	return quota, period, nil
}

// parseV1Quota parses the two files of a v1 limit, each one number in
// microseconds. cpu.cfs_quota_us is -1 where there is no limit.
// Linux Documentation/scheduler/sched-bwc.rst, "Management".
//
// quota is 0 where there is no limit.
func parseV1Quota(quotaFile, periodFile []byte) (quota, period time.Duration, err error) {
	if period, err = parseMicrosFile(periodFile); err != nil {
		return 0, 0, fmt.Errorf("period: %w", err)
	}
	if period == 0 {
		return 0, 0, fmt.Errorf("period: %w", malformed("not above 0", periodFile))
	}
	if string(quotaFile) == "-1\n" {
		return 0, period, nil
	}
	if quota, err = parseMicrosFile(quotaFile); err != nil {
		return 0, 0, fmt.Errorf("quota: %w", err)
	}
	if quota == 0 {
		return 0, 0, fmt.Errorf("quota: %w", malformed("not above 0", quotaFile))
	}
	return quota, period, nil
}

// parseMicrosFile parses a file of one time in microseconds.
func parseMicrosFile(b []byte) (time.Duration, error) {
	line, rest, err := nextLine(b)
	if err != nil {
		return 0, err
	}
	if len(rest) > 0 {
		return 0, malformed("more than one line", rest)
	}
	return parseTime(line, time.Microsecond)
}

func parsePositiveMicros(b []byte) (time.Duration, error) {
	d, err := parseTime(b, time.Microsecond)
	if err == nil && d == 0 {
		err = malformed("not above 0", b)
	}
	return d, err
}

// maxCPU bounds the number of a CPU in a list, far above what any kernel can
// be built for (8192), so that a count cannot overflow.
const maxCPU = 1 << 20

// parseCPUList counts the CPUs of a list as in cpuset.cpus.effective.
//
//	0-4,6,8-10\n
//
// man 7 cpuset, "List format". The kernel prints it in rising order. An empty
// line is a list without CPUs.
func parseCPUList(b []byte) (int, error) {
	line, rest, err := nextLine(b)
	if err != nil {
		return 0, err
	}
	if len(rest) > 0 {
		return 0, malformed("more than one line", rest)
	}
	if len(line) == 0 {
		return 0, nil
	}
	count, next := 0, int64(0)
	for more := true; more; {
		var item []byte
		item, line, more = bytes.Cut(line, []byte(","))
		low, high, ranged := bytes.Cut(item, []byte("-"))
		first, err := parseInt(low)
		if err != nil {
			return 0, err
		}
		last := first
		if ranged {
			if last, err = parseInt(high); err != nil {
				return 0, err
			}
		}
		if first < next || last < first || last > maxCPU {
			return 0, malformed("CPUs not in rising order", item)
		}
		count += int(last - first + 1)
		next = last + 1
	}
	return count, nil
}

// setCount sets v to the count in b.
func setCount(v *Value[int64], b []byte) error {
	n, err := parseInt(b)
	if err == nil {
		*v = ValueOf(n)
	}
	return err
}

// setTime sets v to the time in b, which is in unit.
func setTime(v *Value[time.Duration], b []byte, unit time.Duration) error {
	d, err := parseTime(b, unit)
	if err == nil {
		*v = ValueOf(d)
	}
	return err
}

// parseTime parses a time that is given as a whole number of unit.
func parseTime(b []byte, unit time.Duration) (time.Duration, error) {
	n, err := parseInt(b)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64/int64(unit) {
		return 0, malformed("time out of range", b)
	}
	return time.Duration(n) * unit, nil
}

// parseInt parses decimal digits without a sign. (strconv takes a string,
// which would have to be allocated.)
func parseInt(b []byte) (int64, error) {
	if len(b) == 0 {
		return 0, malformed("number missing", b)
	}
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, malformed("not a number", b)
		}
		digit := int64(c - '0')
		if n > (math.MaxInt64-digit)/10 {
			return 0, malformed("number out of range", b)
		}
		n = n*10 + digit
	}
	return n, nil
}

// malformed returns an ErrMalformed that says what is wrong with b and shows
// the start of it.
func malformed(what string, b []byte) error {
	const shown = 40
	if len(b) > shown {
		return fmt.Errorf("%w: %s: %q…", ErrMalformed, what, b[:shown])
	}
	return fmt.Errorf("%w: %s: %q", ErrMalformed, what, b)
}
