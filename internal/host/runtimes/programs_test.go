package runtimes

import (
	"path"
	"slices"
	"testing"
)

// Each program of the table can be detected, and has a number with its setting or words.
func TestPrograms(t *testing.T) {
	for _, p := range programs {
		for _, pattern := range p.names {
			if _, err := path.Match(pattern, ""); err != nil {
				t.Errorf("%s: %q: %v", p.title, pattern, err)
			}
		}
		knob := KnobOf(Info{Runtime: p.runtime})
		if p.runtime.Title() != p.title || knob.Words == "" || knob.Setting != "" && knob.File == "" {
			t.Errorf("%s: %q, %+v", p.title, p.runtime.Title(), knob)
		}
		if p.setting == "" && p.rule != "" && p.advice == "" {
			t.Errorf("%s has neither a setting nor an advice", p.title)
		}
	}
}

// What a command sets is changed there; an option that it lacks is added to it, where it
// starts the program.
func TestOptionsOfPrograms(t *testing.T) {
	for _, test := range []struct {
		runtime Name
		command []string
		want    []string
		ok      bool
	}{
		{Redis, []string{"/usr/bin/redis-server", "/etc/redis.conf", "--io-threads", "4"}, []string{"/usr/bin/redis-server", "/etc/redis.conf", "--io-threads", "1"}, true},
		{Valkey, []string{"valkey-server", "/etc/v.conf"}, []string{"valkey-server", "/etc/v.conf", "--io-threads", "1"}, true},
		{Memcached, []string{"memcached", "-m", "64", "-t4"}, []string{"memcached", "-m", "64", "-t1"}, true},
		{Memcached, []string{"memcached", "--threads=4"}, []string{"memcached", "--threads=1"}, true},
		{Memcached, []string{"memcached"}, []string{"memcached", "-t", "1"}, true},
		{Memcached, []string{"gosu", "memcache", "memcached"}, nil, false},
		{BIND, []string{"/usr/sbin/named", "-f", "-n", "8"}, []string{"/usr/sbin/named", "-f", "-n", "1"}, true},
		{BIND, []string{"/usr/sbin/named", "-f"}, []string{"/usr/sbin/named", "-f", "-n", "1"}, true},
		{Lighttpd, []string{"lighttpd", "-D", "-f", "l.conf"}, nil, false},
		{Redis, nil, nil, false},
		{MariaDB, []string{"mariadbd"}, nil, false},
	} {
		s, ok := SettingOf(Info{Runtime: test.runtime}, 1, test.command)
		if !slices.Equal(s.Command, test.want) || ok != test.ok {
			t.Errorf("%v: got %v, %v", test.command, s.Command, ok)
		}
	}
}

func TestDefaultOfPrograms(t *testing.T) {
	for _, test := range []struct {
		info Info
		want int
		why  string
	}{
		{Info{Runtime: Memcached}, 4, "memcached runs 4 threads, regardless of the limit"},
		{Info{Runtime: Memcached, Flags: []string{"-t", "2"}}, 2, "-t 2 is in its command"},
		{Info{Runtime: Redis}, 1, "Redis runs one thread, unless io-threads is set, regardless of the limit"},
		{Info{Runtime: BIND, Flags: []string{"-n", "8"}}, 8, "-n 8 is in its command"},
		{Info{Runtime: Lighttpd}, 1, "lighttpd runs one process, unless server.max-worker is set, regardless of the limit"},
		{Info{Runtime: H2O}, 0, "H2O runs a thread for each CPU, unless num-threads is set, regardless of the limit"},
		{Info{Runtime: Postgres}, 0, "PostgreSQL runs a process for each connection, regardless of the limit"},
	} {
		if n, why := Default(test.info, LimitOf(0.5), Machine{Online: 8}); n != test.want || why != test.why {
			t.Errorf("%+v: %d, %q", test.info, n, why)
		}
	}
}

func TestLeast(t *testing.T) {
	for _, test := range []struct {
		runtime Name
		cpus    float64
		want    int
	}{
		{Redis, 0.3, 1}, {Redis, 1.5, 1}, {Redis, 2.5, 2}, {Memcached, 0.3, 1}, {Memcached, 1.5, 2},
		{Go, 0.3, 2}, {Go, 2.5, 3}, {Nginx, 2, 2},
		{BIND, 0.35, 1}, {Lighttpd, 0.35, 1}, {Unbound, 0.35, 2},
	} {
		if n := Least(Info{Runtime: test.runtime}, test.cpus); n != test.want {
			t.Errorf("%s under %v: %d, want %d", test.runtime, test.cpus, n, test.want)
		}
	}
}

// The schedulers of OTP 25 and of OTP 27, without those for long work.
func TestScheduler(t *testing.T) {
	for name, want := range map[string]int{
		"1_scheduler": 1, "12_scheduler": 12, "erts_sched_3": 3,
		"1_dirty_cpu_sch": 0, "erts_dcpus_1": 0, "beam.smp": 0, "x_scheduler": 0, "_scheduler": 0,
	} {
		if n := scheduler(name); n != want {
			t.Errorf("%s: %d, want %d", name, n, want)
		}
	}
}
