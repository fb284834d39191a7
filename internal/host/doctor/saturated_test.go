package doctor

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
)

// nginx is a master of one worker that uses a share of a limit over a watch of 10 s.
func nginx(limit, used float64, full int) []inspect.Process {
	const length = 10 * time.Second
	master := goService(1, limit)
	master.Info = runtimes.Info{PID: 42, Runtime: runtimes.Nginx, Affinity: 8, Workers: 1, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
	master.Command = []string{"nginx: master process /usr/sbin/nginx -c /etc/n.conf -g daemon off; user root;"}
	spent := time.Duration(used * limit * float64(length))
	w := inspect.Counts{Length: length, Periods: 100, Used: &spent}
	master.Throttling = &inspect.Throttling{Since: w, Watch: &w}
	worker := master
	worker.PID, worker.Parent, worker.Used, worker.Info.Workers = 43, 42, spent, 0
	worker.Command = []string{"nginx: worker process"}
	master.Used = 0
	worker.Threads = &threads.Use{Length: length, Read: 1, Busy: 1, Full: full, Ran: spent, BusyRan: spent, Waited: time.Second}
	return []inspect.Process{master, worker}
}

// throttledIn is a group that was throttled in some of its periods, for a time each.
func throttledIn(all []inspect.Process, periods int64, each time.Duration) []inspect.Process {
	w := *all[0].Throttling.Watch
	w.Throttled, w.Stopped = periods, time.Duration(periods)*each
	for i := range all {
		all[i].Throttling = &inspect.Throttling{Since: w, Watch: &w}
	}
	return all
}

// bound is a service of which some threads ran almost all the time.
func bound(all []inspect.Process, n int) []inspect.Process {
	all[len(all)-1].Threads.Bound = n
	return all
}

// A limit can be used up without any throttling: the queue is then in the service.
func TestSaturationWithoutThrottling(t *testing.T) {
	const title = "warning: limit of 1 CPU used up ("
	for _, test := range []struct {
		name string
		of   []inspect.Process
		want string     // "": no finding
		sure Confidence // "": high
	}{
		{"all of it", nginx(1, 1, 1), title, ""},
		{"all that others on the host leave", nginx(1, 0.9, 1), title, ""},
		{"a busy thread that also waits for requests", nginx(1, 0.9, 0), "", ""},
		{"a thread that ran for 85% of the time", bound(nginx(1, 0.85, 0), 1), title, ""},
		{"less", nginx(1, 0.8, 1), "", ""},
		{"one CPU of two", nginx(2, 0.5, 1), "warning: parallelism 1 under a limit of 2 CPUs: it uses 1.00 CPUs and cannot use more", Medium},
		{"throttled in a few periods, in which no more ran", throttledIn(nginx(1, 1, 1), 8, 2*time.Millisecond), title, ""},
		{"throttled in a few periods, in which more ran", throttledIn(nginx(1, 1, 1), 8, 40*time.Millisecond),
			"warning: limit of 1 CPU used up (100% on average): throttled in 8% of 100 periods", ""},
		{"less than one CPU of two, which others took", nginx(2, 0.4, 1), "warning: parallelism 1 under a limit of 2 CPUs: it uses 0.80 CPUs", Medium},
		{"a fifth of a CPU of two, the rest of which others took", nginx(2, 0.1, 1), "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := examine(test.of...)
			if test.want == "" {
				if len(all) > 0 {
					t.Errorf("got %q", titles(all))
				}
				return
			}
			if len(all) != 1 || !strings.HasPrefix(titles(all)[0], test.want) || all[0].PID != 42 {
				t.Fatalf("got %q", titles(all))
			}
			if f := all[0]; f.Confidence != cmp.Or(test.sure, High) || f.Mechanism == "" || f.Expect == (Effect{}) || len(f.Changes) == 0 {
				t.Errorf("got %+v", f)
			}
		})
	}
}

// One full thread is found whatever the ratio to the limit, and however short the watch.
func TestOneFullThread(t *testing.T) {
	const cannot = "warning: parallelism 1 under a limit of "
	short := func(all []inspect.Process) []inspect.Process { // 2 s
		for i := range all {
			w := *all[i].Throttling.Watch
			used := *w.Used / 5
			w.Length, w.Periods, w.Used = w.Length/5, w.Periods/5, &used
			all[i].Throttling = &inspect.Throttling{Since: w, Watch: &w}
			all[i].Used /= 5
		}
		threads := *all[1].Threads
		threads.Length, threads.Ran, threads.BusyRan, threads.Waited = threads.Length/5, threads.Ran/5, threads.BusyRan/5, 0
		all[1].Threads = &threads
		return all
	}
	for _, test := range []struct {
		name string
		of   []inspect.Process
		want string // "": no finding
	}{
		{"of 1 CPU in a short watch", short(nginx(1, 1, 1)), "warning: limit of 1 CPU used up (100% on average) by 1 worker"},
		{"of less than its CPU in a short watch", short(nginx(1, 0.8, 1)), ""},
		{"of 1.18 CPUs", nginx(1.18, 0.99/1.18, 1), cannot + "1.18 CPUs: it uses 0.99 CPUs"},
		{"of 1.2 CPUs", nginx(1.2, 0.9/1.2, 0), cannot + "1.2 CPUs: it uses 0.90 CPUs"},
		{"of 1.49 CPUs", nginx(1.49, 1/1.49, 1), cannot + "1.49 CPUs: it uses 1.00 CPUs"},
		{"of 1.2 CPUs, which ran less", nginx(1.2, 0.8/1.2, 1), ""},
		{"of 1.2 CPUs, used up by more", nginx(1.2, 0.9, 1), "warning: limit of 1.2 CPUs used up"},
		{"of 0.9 CPUs", nginx(0.9, 0.8, 1), ""},
	} {
		if got := titles(examine(test.of...)); test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], test.want)) {
			t.Errorf("%s: got %q", test.name, got)
		}
	}
	slow := nginx(1.7, 0.7/1.7, 0) // the scan of the processes took a third longer than the watch of the group
	slow[1].Used = slow[1].Used * 4 / 3
	if got := titles(examine(slow...)); len(got) > 0 {
		t.Errorf("a slow scan: got %q", got)
	}
	two := nginx(1.2, 0.99/1.2, 1)
	if c := examine(two...)[0].Changes; len(c) != 1 || c[0].Setting != "worker_processes" || c[0].Value != 2 || c[0].CPUs != 0 {
		t.Errorf("the change: got %+v", c)
	}
}

// The limit bounds more workers, and not more replicas, each of which has its own.
func TestTheEffectOfReplicas(t *testing.T) {
	workers := nginx(1.3, 1/1.3, 1)
	if got := examine(workers...)[0].Expect.Saturated; !strings.HasPrefix(got, "if requests wait for it, throughput up to ×1.3;") {
		t.Errorf("workers: got %q", got)
	}
	node := nginx(1.3, 1/1.3, 1)[1:]
	node[0].Info.Runtime, node[0].Command, node[0].Parent = runtimes.Node, []string{"node", "app.js"}, 1
	if f := examine(node...)[0]; !f.Changes[0].Replicas || strings.Contains(f.Expect.Saturated, "×") || strings.Contains(f.Expect.Saturated, "quota") {
		t.Errorf("replicas: got %+v", f)
	}
}

// What can run at once is one worker here: the sentence has no verb for several.
func TestTheCauseOfASaturatedService(t *testing.T) {
	if got := examine(nginx(1, 1, 1)...)[0].Mechanism; !strings.Contains(got, "(1 worker)") || strings.Contains(got, "1 worker run") {
		t.Errorf("got %q", got)
	}
}

// A higher limit needs more workers, and more workers need a higher limit.
func TestTheChangeOfASaturatedService(t *testing.T) {
	f := examine(nginx(1, 1, 1)...)[0]
	if c := f.Changes[0]; c.CPUs != 2 || c.Setting != "worker_processes" || c.Value != 2 {
		t.Errorf("got %+v", c)
	}
	node := nginx(1, 1, 1)[1:]
	node[0].Info.Runtime, node[0].Command, node[0].Parent = runtimes.Node, []string{"node", "app.js"}, 1
	f = examine(node...)[0]
	if len(f.Changes) != 1 || !f.Changes[0].Replicas || f.Changes[0].CPUs != 0 {
		t.Errorf("Node.js: got %+v", f.Changes)
	}
	python := nginx(1, 1, 1)
	for i := range python {
		python[i].Info.Runtime, python[i].Info.Server, python[i].Command = runtimes.Python, "gunicorn", []string{"/bin/gunicorn", "app:app"}
	}
	if c := examine(python...)[0].Changes[0]; c.CPUs != 2 || c.Env["WEB_CONCURRENCY"] != "2" {
		t.Errorf("gunicorn: got %+v", c)
	}
	java := nginx(1, 1, 1)[1:]
	java[0].Info.Runtime, java[0].Info.Parallelism, java[0].Parent = runtimes.JVM, runtimes.Parallelism{Value: 1, Source: runtimes.Predicted}, 1
	if c := examine(java...)[0].Changes[0]; c.CPUs != 2 || c.Env != nil || c.Replicas {
		t.Errorf("a JVM follows the limit: got %+v", c)
	}
}

// Threads that a program starts itself are counted, not assumed.
func TestThreadsThatNoRuleKnows(t *testing.T) {
	node := func(busy, full int, wanted float64) []Finding {
		p := watched(goService(1, 1), 380, 412, 0.99)
		length := p.Throttling.Watch.Length
		p.Info = runtimes.Info{PID: 42, Runtime: runtimes.Node, Affinity: 8, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read, From: "1 process"}}
		p.Threads = &threads.Use{Length: length, Read: 9, Busy: busy, Full: full, BusyRan: length, BusyWaited: time.Duration((wanted - 1) * float64(length)), Ran: length}
		return examine(p)
	}
	f := node(3, 2, 2.4)[0]
	if !strings.HasPrefix(f.Title, "parallelism 2 exceeds the limit of 1 CPU: throttled in 92%") || strings.Contains(f.Evidence[0], "parallelism 1") {
		t.Errorf("two worker threads: got %q, %q", f.Title, f.Evidence[0])
	}
	if got := advised(node(3, 2, 2.4)); got != 0 {
		t.Errorf("%d is advised: whether the threads wait is not known", got)
	}
	if f := node(3, 0, 1.4)[0]; !strings.Contains(f.Evidence[0], "but 3 threads were busy") {
		t.Errorf("threads that mostly wait: got %q", f.Evidence[0])
	}
	if f := node(1, 1, 1)[0]; strings.Contains(f.Evidence[0], "busy") {
		t.Errorf("one thread: got %q", f.Evidence[0])
	}
}

// Threads behind a global lock wait for a CPU at each hand-over, and cannot run at once: a
// process of them is one full thread, as a server with one worker is.
func TestThreadsBehindALock(t *testing.T) {
	const (
		length = 10 * time.Second
		one    = "warning: parallelism 1 under a limit of 1.7 CPUs: it uses "
	)
	for _, test := range []struct {
		name    string
		of      runtimes.Info
		ran     float64 // CPUs, of all threads together
		waited  float64
		want    string // "": no finding
		workers bool
	}{
		{"gunicorn's threads", runtimes.Info{Runtime: runtimes.Python, Server: "gunicorn"}, 0.86, 5.2, one, true},
		{"uWSGI's threads", runtimes.Info{Runtime: runtimes.Python, Server: "uwsgi"}, 0.86, 3.3, one, false},
		{"puma's threads", runtimes.Info{Runtime: runtimes.Ruby, Server: "puma"}, 0.92, 2.2, one, false},
		{"threads that are not full", runtimes.Info{Runtime: runtimes.Python}, 0.6, 0.2, "", false},
		{"threads of a library, which hold no lock", runtimes.Info{Runtime: runtimes.Python}, 1.6, 5, "", false},
		{"Python without a lock", runtimes.Info{Runtime: runtimes.Python, Lockless: true}, 0.86, 5.2, "info: parallelism 6 exceeds the limit of 1.7 CPUs: rarely throttled during the watch", false},
		{"worker threads of Node.js", runtimes.Info{Runtime: runtimes.Node}, 0.86, 5.2, "info: parallelism 6 exceeds the limit of 1.7 CPUs: rarely throttled during the watch", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := nginx(1.7, test.ran/1.7, 0)
			cpus := func(n float64) time.Duration { return time.Duration(n * float64(length)) }
			threads := &threads.Use{Length: length, Read: 9, Busy: 9, Ran: cpus(test.ran), BusyRan: cpus(test.ran), Waited: cpus(test.waited), BusyWaited: cpus(test.waited)}
			for i := range all {
				workers := all[i].Info.Workers
				all[i].Info = test.of
				all[i].Info.Affinity, all[i].Info.Workers, all[i].Info.Parallelism = 8, workers, runtimes.Parallelism{Value: 1, Source: runtimes.Read}
				all[i].Command = []string{"/bin/server"}
			}
			all[1].Threads = threads
			if !test.workers {
				all = all[1:]
				all[0].Parent = 1
			}
			found := examine(all...)
			if test.want == "" && len(found) > 0 || test.want != "" && (len(found) != 1 || !strings.HasPrefix(titles(found)[0], test.want)) {
				t.Errorf("got %q", titles(found))
			}
		})
	}
}

// Threads of a program that doctor does not know may spin: what gives them more useful CPU
// time is not known, and a higher limit may change nothing.
func TestThreadsThatMaySpin(t *testing.T) {
	of := func(runtime runtimes.Name, busy, full int, handed bool) Finding {
		p := watched(goService(1, 0.8), 410, 412, 1)
		p.Info = runtimes.Info{Runtime: runtime, Program: "redis-server", Affinity: 8, Parallelism: runtimes.Parallelism{}}
		if runtime != runtimes.Unknown {
			p.Info.Parallelism = runtimes.Parallelism{Value: 1, Source: runtimes.Read}
		}
		p.Threads = &threads.Use{Length: p.Throttling.Watch.Length, Read: 9, Busy: busy, Full: full, Held: full, Ran: p.Used, BusyRan: p.Used}
		if handed {
			p.Threads.Held = 0
		}
		return examine(p)[0]
	}
	for _, test := range []struct {
		name       string
		runtime    runtimes.Name
		busy, full int
		nothing    bool // the sentence that no setting helps
		sure       Confidence
		limit      bool // a higher one is advised
	}{
		{"four that always wanted a CPU", runtimes.Unknown, 4, 4, false, Low, false},
		{"one", runtimes.Unknown, 1, 1, false, Medium, true},
		{"schedulers that wait busily", runtimes.Erlang, 4, 4, false, Low, false},
		{"Python beside a library", runtimes.Python, 4, 4, false, Low, false},
		{"Python's threads, which hand a lock to each other", runtimes.Python, 4, 4, false, Medium, true},
		{"an unknown program's threads, which hand a lock to each other", runtimes.Unknown, 4, 4, false, Low, false},
		{"Python beside a library that waits", runtimes.Python, 4, 0, false, Medium, true},
		{"worker threads of Node.js, or a library", runtimes.Node, 4, 4, false, Medium, true},
		{"Python alone", runtimes.Python, 1, 1, true, High, true},
		{"nginx", runtimes.Nginx, 1, 1, true, High, true},
	} {
		f := of(test.runtime, test.busy, test.full, strings.Contains(test.name, "lock"))
		limit := len(f.Changes) > 0 && f.Changes[0].CPUs > 0.8
		if nothing := strings.Contains(f.Fix[0], "no setting gives"); nothing != test.nothing || f.Confidence != test.sure || limit != test.limit {
			t.Errorf("%s: %s, %+v, %q", test.name, f.Confidence, f.Changes, f.Fix)
		}
	}
	whole := nginx(1, 1, 1)[1:]
	whole[0].Info, whole[0].Parent = runtimes.Info{Runtime: runtimes.Unknown, Program: "poll", Affinity: 8}, 1
	if f := examine(whole...)[0]; f.Confidence != Medium || strings.Contains(f.Title, "requests wait") {
		t.Errorf("a limit that is used up without throttling: %s, %s", f.Confidence, f.Title)
	}
}

// Of an unknown program the threads show what it can use, unless others share the work.
func TestTheParallelismOfAnUnknownProgram(t *testing.T) {
	php := nginx(2, 0.5, 1)[1:]
	php[0].Info, php[0].Parent = runtimes.Info{Runtime: runtimes.Unknown, Program: "php", Affinity: 8}, 1
	all := examine(php...)
	if len(all) != 1 || !strings.HasPrefix(all[0].Title, "parallelism 1 under a limit of 2 CPUs") || all[0].Confidence != Medium || !all[0].Changes[0].Replicas {
		t.Errorf("got %+v", all)
	}
	other := php[0]
	other.PID++
	if all := examine(php[0], other); len(all) != 0 {
		t.Errorf("one of several: got %q", titles(all))
	}
	other.Used /= 100
	if all := examine(php[0], other); len(all) != 1 {
		t.Errorf("one of several, which does nothing: got %q", titles(all))
	}
	beside := func(ran float64, threads int) []string { // one full thread and others
		all := bound(nginx(1.4, ran/1.4, 1), threads)[1:]
		all[0].Info, all[0].Parent = php[0].Info, 1
		all[0].Threads.Busy = 5
		return titles(examine(all...))
	}
	for _, test := range []struct {
		ran   float64
		bound int
		want  string
	}{
		{1.1, 1, "warning: parallelism 1 under a limit of 1.4 CPUs: it uses 1.10 CPUs"},
		{1.1, 0, ""},
		{1.3, 1, "warning: limit of 1.4 CPUs used up (93% on average) by the busy threads, which work or spin"},
	} {
		if got := beside(test.ran, test.bound); test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], test.want)) {
			t.Errorf("%+v: got %q", test, got)
		}
	}
}

// The number of processors of a JVM does not bound the threads of a server such as Tomcat:
// it is no cause where they used more, or where many did the work.
func TestThreadsThatTheProcessorsDoNotBound(t *testing.T) {
	tomcat := func(used float64, busy, full int) []string {
		java := nginx(2, used/2, full)[1:]
		java[0].Parent, java[0].Command = 1, []string{"java", "-jar", "a.jar"}
		java[0].Info = runtimes.Info{Runtime: runtimes.JVM, Affinity: 8, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Declared}}
		java[0].Threads.Busy = busy
		return titles(examine(java...))
	}
	const title = "warning: parallelism 1 under a limit of 2 CPUs: it uses "
	for _, test := range []struct {
		used       float64
		busy, full int
		want       bool
	}{
		{1, 2, 1, true}, {1.18, 5, 1, true}, {0.9, 4, 0, true},
		{1.5, 40, 0, false}, {1.9, 40, 3, false}, {0.9, 10, 0, false},
	} {
		got := tomcat(test.used, test.busy, test.full)
		if found := len(got) > 0 && strings.HasPrefix(got[0], title); found != test.want {
			t.Errorf("%+v: got %q", test, got)
		}
	}
}

// They use a higher limit alone.
func TestThreadsThatTheProcessorsDoNotBoundUseAHigherLimit(t *testing.T) {
	java := nginx(2, 0.98, 2)[1:]
	java[0].Parent, java[0].Command = 1, []string{"java", "-jar", "a.jar"}
	java[0].Info = runtimes.Info{Runtime: runtimes.JVM, Affinity: 8, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Declared},
		Env: map[string]string{"JAVA_TOOL_OPTIONS": "-XX:ActiveProcessorCount=1"}}
	idle := nginx(2, 0.9, 1)[1:]
	idle[0].Parent, idle[0].Command, idle[0].Info = 1, java[0].Command, java[0].Info
	if all := examine(idle...); len(all) != 0 {
		t.Errorf("90%% of the limit: got %q", titles(all))
	}
	all := examine(java...)
	if len(all) != 1 || all[0].Title != "limit of 2 CPUs used up (98% on average) by the busy threads: requests wait in the service's own queue" ||
		all[0].Changes[0].CPUs != 3 || all[0].Changes[0].Env != nil || strings.Contains(all[0].Fix[0], "alone") {
		t.Errorf("got %+v", all)
	}
}

// Smaller pools are not advised in one finding and ruled out in another.
func TestPoolsOfLibraries(t *testing.T) {
	p := watched(goService(1, 1), 400, 412, 0.99)
	length := p.Throttling.Watch.Length
	p.Throttling.Watch.Stopped = 400 * 300 * time.Millisecond
	p.Info = runtimes.Info{PID: 42, Runtime: runtimes.Python, Affinity: 8, Threads: 9, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
	p.Threads = &threads.Use{Length: length, Read: 9, Busy: 4, Full: 4, BusyRan: length, BusyWaited: 3 * length, Ran: length}
	pools, ruledOut := false, false
	for _, f := range examine(p) {
		pools = pools || strings.Contains(strings.Join(f.Fix, " "), "size thread pools by the limit")
		ruledOut = ruledOut || strings.Contains(strings.Join(f.Evidence, " "), "no lower parallelism is recommended")
	}
	if !pools || ruledOut {
		t.Errorf("smaller pools are advised: %v, ruled out: %v", pools, ruledOut)
	}
}

// Where others use the CPUs too, the quota lasts longer and the throttled time is short. The
// threads that always wanted a CPU compete for the limit nevertheless.
func TestManyWorkersOnABusyHost(t *testing.T) {
	of := func(full int) []Finding {
		all := throttledIn(nginx(0.8, 1, full), 95, 22*time.Millisecond)
		for i := range all {
			all[i].Info.Parallelism.Value = 64
		}
		return examine(all...)
	}
	f := of(64)[0]
	if f.Changes[0].Setting != "worker_processes" || f.Changes[0].Value != 2 || !strings.Contains(strings.Join(f.Evidence, "\n"), "about 64.0 threads wanted to run at once") {
		t.Errorf("got %+v, %q", f.Changes, f.Evidence)
	}
	if f := of(1)[0]; f.Changes[0].CPUs != 1.1 {
		t.Errorf("one that always wanted a CPU: got %+v", f.Changes)
	}
}

// A process whose parallelism is higher has one full thread too: more threads do not help it.
func TestAFullThreadAmongOthers(t *testing.T) {
	java := func(limit, ran float64, threads int) []inspect.Process {
		all := bound(nginx(limit, ran/limit, 1), threads)[1:]
		all[0].Parent, all[0].Command = 1, []string{"java", "-jar", "a.jar"}
		all[0].Info = runtimes.Info{Runtime: runtimes.JVM, Affinity: 8, Parallelism: runtimes.Parallelism{Value: 2, Source: runtimes.Predicted}}
		return all
	}
	other := java(1.4, 0.3, 0)[0]
	other.PID = 77
	for _, test := range []struct {
		name  string
		of    []inspect.Process
		found bool
	}{
		{"one", java(1.4, 1, 1), true},
		{"one beside little", java(1.4, 1.1, 1), true},
		{"two", java(2.9, 2, 2), false}, // its parallelism is the bound
		{"one beside others", java(1.9, 1.4, 1), false},
		{"one that did not run all the time", java(1.4, 0.9, 0), false},
		{"one of a limit that is used up", java(1.1, 1, 1), false},
		{"one of another limit", java(0.9, 0.7, 1), false},
		{"one beside another process", append(java(1.9, 1, 1), other), false},
		{"one of one CPU", java(1.4, 1, 1), false},
	} {
		if test.name == "one of one CPU" {
			test.of[0].Info.Affinity = 1
		}
		found := false
		for _, f := range examine(test.of...) {
			if strings.HasPrefix(f.Title, "1 thread ran almost all the time under a limit of 1.4 CPUs, and the others did little: ") {
				found = f.Level == Warning && f.Rule == CannotUseLimit && f.Confidence == Medium && len(f.Changes) == 1 && f.Changes[0].Replicas
			}
		}
		if found != test.found {
			t.Errorf("%s: found %v, %q", test.name, found, titles(examine(test.of...)))
		}
	}
}
