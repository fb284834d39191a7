package proc

import "testing"

func TestParseStatus(t *testing.T) {
	unknown := Status{User: -1}
	for name, c := range map[string]struct {
		text string
		want Status
	}{
		"a process": {"Name:\tapi: x\nTgid:\t1234\nNSpid:\t1234\t7\nPPid:\t7\nUid:\t0\t1000\t0\t0\nVmHWM:\t   12345 kB\nRssAnon:\t   10000 kB\nThreads:\t12\nCpus_allowed_list:\t0-3,8,10-11\n",
			Status{Inner: 7, Leader: 1234, Anon: 10000 << 10, Parent: 7, User: 1000, Threads: 12, CPUs: 7, Peak: 12345 << 10}},
		"without an end":         {"Name:\tx\nUid:\t5\t6\t7\t8", Status{User: 6}},
		"one user only":          {"Uid:\t0\n", unknown},
		"a user that is none":    {"Uid:\tx y", unknown},
		"numbers that are none":  {"Tgid:\t-1\nPPid:\t\nThreads:\t99999999999\nVmHWM:\tmuch\nCpus_allowed_list:\t3-1", unknown},
		"nothing":                {"", unknown},
		"a kernel thread's size": {"VmHWM:\n", unknown},
	} {
		if got := ParseStatus([]byte(c.text)); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("Uid:\t0\t0\t0\t0\nVmHWM:\t1 kB\nCpus_allowed_list:\t0-3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s := ParseStatus(text); s.User < -1 || s.CPUs < 0 || s.Peak < 0 || s.Parent < 0 || s.Leader < 0 || s.Threads < 0 || s.Inner < 0 || s.Anon < 0 {
			t.Errorf("%q: %+v", text, s)
		}
	})
}
