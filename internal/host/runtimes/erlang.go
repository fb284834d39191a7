package runtimes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
)

// erlangDefault follows read_cpu_quota in erts/lib_src/common/erl_misc_utils.c. The
// emulator's own arguments have the options of ERL_AFLAGS, the command, ERL_FLAGS and
// ERL_ZFLAGS in this order; the last counts. +SP is a share of what +S or the rule gives
// (erl(1), "+SP").
func erlangDefault(info Info, limit Limit, m Machine) (int, string) {
	n, why := erlangBase(info, limit, m)
	if share, ok := erlangOption(info.Flags, "-SP"); ok && share <= 100 {
		return max(1, n*share/100), fmt.Sprintf("+SP gives %d%% of %d schedulers: %s", share, n, why)
	}
	return n, why
}

func erlangBase(info Info, limit Limit, m Machine) (int, string) {
	if n, ok := erlangOption(info.Flags, "-S"); ok {
		return n, fmt.Sprintf("+S gives %d schedulers online", n)
	}
	affinity := m.affinity()
	switch {
	case info.Version != "" && !atLeast(info.Version, 11):
		return affinity, fmt.Sprintf("Erlang/OTP before 23 does not read cgroups: all %d CPUs", affinity)
	case limit.Leaf <= 0:
		return affinity, fmt.Sprintf("no limit: all %d CPUs", affinity)
	case int(limit.Leaf) > affinity:
		return affinity, fmt.Sprintf("the limit of %s is above the %d CPUs", display.CPULimit(limit.Leaf), affinity)
	}
	return max(1, int(limit.Leaf)), fmt.Sprintf("Erlang/OTP 23 and later rounds the limit of %s down, to at least 1", display.CPULimit(limit.Leaf))
}

// erlangSchedulers is the number of schedulers online that the options alone give.
func erlangSchedulers(flags []string) (int, bool) {
	n, ok := erlangOption(flags, "-S")
	if _, share := erlangOption(flags, "-SP"); share {
		return 0, false
	}
	return n, ok
}

// erlangOption is the number for the schedulers online of an option, "-S total:online" or
// "-S total"; the last one counts. erl's +S arrives as -S in the emulator's arguments.
func erlangOption(flags []string, name string) (n int, found bool) {
	for i, flag := range flags {
		value, ok := strings.CutPrefix(flag, name)
		if !ok {
			continue
		}
		if value == "" && i+1 < len(flags) {
			value = flags[i+1]
		}
		total, online, both := strings.Cut(value, ":")
		if !both {
			online = total
		}
		if v, ok := positive(online); ok {
			n, found = v, true
		}
	}
	return n, found
}

// busyWaits are the options for how long idle schedulers wait busily (erl(1), "+sbwt").
var busyWaits = []string{"-sbwt", "-sbwtdcpu", "-sbwtdio"}

// QuietSetting returns the variable with which the idle threads of a runtime sleep instead of
// waiting busily; ok is false if it has none, or if the command or a variable sets that already.
func QuietSetting(info Info) (env map[string]string, ok bool) {
	chosen := info.Env["ERL_AFLAGS"] + info.Env["ERL_FLAGS"] + info.Env["ERL_ZFLAGS"]
	if info.Runtime != Erlang || slices.Contains(info.Flags, busyWaits[0]) || strings.Contains(chosen, "+sbwt") {
		return nil, false
	}
	value := info.Env["ERL_FLAGS"]
	for _, option := range busyWaits {
		value += " +" + strings.TrimPrefix(option, "-") + " none"
	}
	return map[string]string{"ERL_FLAGS": strings.TrimSpace(value)}, true
}

// erlangFlags returns -S, -SP and the options for busy waiting with their values from the
// emulator's own arguments, which end at the first "--".
func erlangFlags(args []string) []string {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	var found []string
	for i, arg := range args {
		value := strings.TrimPrefix(strings.TrimPrefix(arg, "-S"), "P")
		switch {
		case (arg == "-S" || arg == "-SP" || slices.Contains(busyWaits, arg)) && i+1 < len(args):
			found = append(found, arg, args[i+1])
		case strings.HasPrefix(arg, "-S") && value != "" && '0' <= value[0] && value[0] <= '9':
			found = append(found, arg)
		}
	}
	return found
}

// scheduler is the number of a scheduler thread by its name, "2_scheduler" or since OTP 26
// "erts_sched_2"; 0: it is none.
func scheduler(thread string) int {
	number, old := strings.CutSuffix(thread, "_scheduler")
	if !old {
		var ok bool
		if number, ok = strings.CutPrefix(thread, "erts_sched_"); !ok {
			return 0
		}
	}
	n, _ := positive(number)
	return n
}

// schedulerRan is the CPU time from which a scheduler thread is online. There is a thread for
// each CPU of the host, and the first of them are online. With 1 to 3 of 8 online, an idle
// OTP 25 gave those above 0.2 ms in all, and the last that is online 12 to 77 ms. So an
// online scheduler that has not run yet is not counted.
const schedulerRan = 2 * time.Millisecond
