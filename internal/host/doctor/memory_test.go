package doctor

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/heaps"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// short is a Go service that uses 380 MiB of 400.
func short() inspect.Process {
	set := int64(380 << 20)
	p := goService(2, 2)
	p.Memory = inspect.Memory{State: inspect.Limited, Limit: 400 << 20, Group: "/a", SetBy: "/a", Unreclaimable: &set}
	return p
}

// The library that sets GOMEMLIMIT is named where the binary does not have it.
func TestMemlimit(t *testing.T) {
	fix := func(change func(*inspect.Process)) string {
		all := examine(with(short(), change))
		if len(all) != 1 {
			t.Fatalf("got %q", titles(all))
		}
		return all[0].Fix[0]
	}
	for _, test := range []struct {
		name    string
		change  func(*inspect.Process)
		library bool
		begins  string
	}{
		{"without", func(*inspect.Process) {}, true, "try GOMEMLIMIT=360MiB"},
		{"with the variable", func(p *inspect.Process) { p.Info.Env = map[string]string{"GOMEMLIMIT": "390MiB"} }, false, "try GOMEMLIMIT=360MiB"},
		{"with the library", func(p *inspect.Process) { p.Info.Go.Memlimit = true }, false, "raise the memory limit"},
		{"with another library", func(p *inspect.Process) { p.Info.Go.Automemlimit = "v0.7.0" }, false, "raise the memory limit"},
		{"set in its code", func(p *inspect.Process) { p.Info.Go.HeapInCode = true }, false, "if its code sets the limit of its heap (it contains debug.SetMemoryLimit, which overrides GOMEMLIMIT), set 360 MiB there; or"},
		{"Go without GOMEMLIMIT", func(p *inspect.Process) { p.Info.Version = "go1.18.10" }, false, "raise the memory limit"},
	} {
		if got := fix(test.change); strings.Contains(got, "maxprocs/memlimit") != test.library || !strings.HasPrefix(got, test.begins) {
			t.Errorf("%s: got %q", test.name, got)
		}
	}
}

// Kills of earlier runs are in the kernel's log only, and an old kill is no emergency.
func TestKillsInTheLog(t *testing.T) {
	kill := func(ago time.Duration, group, name string) inspect.Kill {
		return inspect.Kill{Ago: ago, Group: group, Name: name, PID: 7}
	}
	once := int64(1)
	for _, test := range []struct {
		name    string
		counted *int64
		kills   []inspect.Kill
		want    []string
	}{
		{"none", nil, nil, nil},
		{"counted only", &once, nil, []string{"critical: the kernel killed 1 process of its group: out of memory"}},
		{"counted, and its time known", &once, []inspect.Kill{kill(150*time.Second, "/a", "api")},
			[]string{"critical: the kernel killed 1 process of its group: out of memory, the last one 2 min ago"}},
		{"long ago", &once, []inspect.Kill{kill(5*time.Hour, "/a", "api")},
			[]string{"warning: the kernel killed 1 process of its group: out of memory, the last one 5 h ago"}},
		{"before the group was created again", nil, []inspect.Kill{kill(time.Minute, "/a", "api"), kill(49*time.Hour, "/a", "sh")},
			[]string{"critical: the kernel killed 2 processes of earlier runs of its group or pod: out of memory, the last one 60 s ago"}},
		{"in a group of its pod that has gone", nil, []inspect.Kill{kill(time.Minute, "/pod/x", "api")},
			[]string{"critical: the kernel killed 1 process of earlier runs of its group or pod: out of memory, the last one 60 s ago"}},
		{"another program of its pod", nil, []inspect.Kill{kill(time.Minute, "/pod/x", "java")}, nil},
		{"in a group that exists", nil, []inspect.Kill{kill(time.Minute, "/b", "api")}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			low := int64(1)
			p := short()
			p.Memory.Unreclaimable, p.Memory.OOMKills, p.Kills = &low, test.counted, test.kills
			other := p
			other.PID, other.Kills, other.Name, other.Memory.Group, other.Memory.OOMKills = 50, nil, "other", "/b", nil
			all := examine(p, other)
			if diff := cmp.Diff(test.want, titles(all)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			logged := len(all) > 0 && strings.Contains(strings.Join(all[0].Evidence, "; "), "killed according to the kernel's log: ")
			if logged != (len(test.want) > 0 && len(test.kills) > 0) {
				t.Errorf("evidence: %+v", all)
			}
		})
	}
	p := short()
	p.Restarts = &inspect.Restarts{Count: 3, OutOfMemory: true, From: "the container engine"}
	const want = "its container was restarted 3 times, and ended because memory ran out (the container engine)"
	if all := examine(p); len(all) != 1 || all[0].Evidence[len(all[0].Evidence)-1] != want {
		t.Errorf("restarts: got %+v", all)
	}
}

// What lowers a heap or raises a memory limit ends its finding; no heap is raised and no
// limit lowered, and the advice comes to an end.
func TestMemoryAdviceThatIsFollowed(t *testing.T) {
	const mib = 1 << 20
	env := func(name, value string) func(*inspect.Process) {
		return func(p *inspect.Process) { p.Info.Env = map[string]string{name: value} }
	}
	of := func(name runtimes.Name, change func(*inspect.Process), command ...string) func(*inspect.Process) {
		return func(p *inspect.Process) {
			p.Info.Runtime, p.Info.Version, p.Info.Go, p.Command = name, "", nil, command
			if change != nil {
				change(p)
			}
		}
	}
	file := func(name, value string) func(*inspect.Process) {
		return func(p *inspect.Process) {
			p.RuntimeConfig = &inspect.RuntimeConfig{File: "/app/App.runtimeconfig.json", Properties: map[string]string{name: value}}
		}
	}
	for name, change := range map[string]func(*inspect.Process){
		"Go":                       func(*inspect.Process) {},
		"Go above":                 env("GOMEMLIMIT", "1GiB"),
		"Node.js":                  of(runtimes.Node, nil, "node", "app.js"),
		"Node.js above":            of(runtimes.Node, env("NODE_OPTIONS", "--max-old-space-size=4096"), "node", "app.js"),
		"Node.js by its command":   of(runtimes.Node, nil, "node", "--max-old-space-size=4096", "app.js"),
		"a JVM":                    of(runtimes.JVM, nil, "java", "Main"),
		"a JVM above":              of(runtimes.JVM, env("JAVA_TOOL_OPTIONS", "-Xss1m -Xmx1g"), "java", "Main"),
		"a JVM by its command":     of(runtimes.JVM, nil, "java", "-Xmx1g", "Main"),
		"a JVM with a share":       of(runtimes.JVM, env("JAVA_TOOL_OPTIONS", "-XX:MaxRAMPercentage=90"), "java", "Main"),
		".NET":                     of(runtimes.DotNet, file("System.GC.Server", "true"), "/app/App"),
		".NET by a variable":       of(runtimes.DotNet, env("DOTNET_GCHeapHardLimit", "0x40000000"), "/app/App"),
		".NET by its file":         of(runtimes.DotNet, file("System.GC.HeapHardLimit", "1073741824"), "/app/App"),
		".NET by a share":          of(runtimes.DotNet, env("DOTNET_GCHeapHardLimitPercent", "5a"), "/app/App"),
		"a program without a heap": of(runtimes.Unknown, nil, "/app/api"),
	} {
		for used := int64(200); used <= 400; used += 10 {
			p := with(short(), change)
			p.Memory.Unreclaimable = new(int64)
			*p.Memory.Unreclaimable = used * mib
			for step := 0; ; step++ {
				all := Examine(inspect.Host{Online: 8, Processes: []inspect.Process{p}})
				all = slices.DeleteFunc(all, func(f Finding) bool { return f.Level == Info }) // observations advise nothing
				if len(all) == 0 {
					break
				}
				if step > 8 {
					t.Fatalf("%s, %d MiB used: there is no end: %q %q", name, used, titles(all), all[0].Fix)
				}
				f := all[0]
				c, before := f.Changes[0], heaps.Of(p).Bytes
				if c.Env != nil {
					p.Info.Env = c.Env
				}
				if c.Command != nil {
					p.Command = c.Command
				}
				if c.Setting != "" {
					file(c.Setting, strconv.Itoa(c.Value))(&p)
				}
				if c.Memory > 0 {
					if c.Memory <= p.Memory.Limit {
						t.Fatalf("%s, %d MiB used: the memory limit is lowered to %d", name, used, c.Memory)
					}
					p.Memory.Limit = c.Memory
				} else if after := heaps.Of(p).Bytes; before > 0 && after >= before {
					t.Fatalf("%s, %d MiB used: the heap stays at %d or is raised to %d: %q", name, used, before, after, f.Fix)
				}
				for _, g := range Examine(inspect.Host{Online: 8, Processes: []inspect.Process{p}}) {
					if reflect.DeepEqual(g.Changes, f.Changes) {
						t.Fatalf("%s, %d MiB used: the same is advised again: %q", name, used, g.Fix)
					}
				}
			}
		}
	}
}

// A JVM whose initial heap is larger than its maximum does not start, so both are lowered,
// each where it is set.
func TestTheInitialHeapIsLoweredToo(t *testing.T) {
	for _, test := range []struct {
		name    string
		command string
		env     map[string]string
		want    Change
	}{
		{"in the command", "java -Xms512m -Xmx512m -jar a.jar -Xms512m", nil,
			Change{Command: strings.Fields("java -Xms300m -Xmx300m -jar a.jar -Xms512m")}},
		{"in a variable", "java -jar a.jar", map[string]string{"JAVA_TOOL_OPTIONS": "-Xms1g -Xss1m -Xmx1g"},
			Change{Env: map[string]string{"JAVA_TOOL_OPTIONS": "-Xms300m -Xss1m -Xmx300m"}}},
		{"in two places", "java -XX:InitialHeapSize=536870912 -jar a.jar", map[string]string{"_JAVA_OPTIONS": "-Xmx1g", "JAVA_TOOL_OPTIONS": "-Xms64m"},
			Change{Command: strings.Fields("java -XX:InitialHeapSize=300m -jar a.jar"), Env: map[string]string{"_JAVA_OPTIONS": "-Xmx300m"}}},
		{"below the new maximum", "java -Xms64m -Xmx512m -jar a.jar", nil, Change{Command: strings.Fields("java -Xms64m -Xmx300m -jar a.jar")}},
	} {
		p := short()
		p.Info.Runtime, p.Info.Go, p.Info.Env, p.Command = runtimes.JVM, nil, test.env, strings.Fields(test.command)
		all := Examine(inspect.Host{Online: 8, Processes: []inspect.Process{p}})
		if len(all) == 0 || len(all[0].Changes) == 0 {
			t.Fatalf("%s: got %+v", test.name, all)
		}
		if diff := cmp.Diff(test.want, all[0].Changes[0]); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}

// A heap is not the cause where another program was killed, which the service had started.
func TestTheKillOfAnotherProgram(t *testing.T) {
	for name, want := range map[string]string{
		"ffmpeg": "raise the memory limit, or use less memory in ffmpeg: it was killed, and a smaller heap of api does not bound it",
		"api":    "try GOMEMLIMIT=360MiB",
	} {
		p, once := short(), int64(1)
		*p.Memory.Unreclaimable = 100 << 20
		p.Memory.OOMKills, p.Kills = &once, []inspect.Kill{{Group: "/a", Name: name, PID: 7, Ago: time.Minute}}
		all := examine(p)
		if len(all) != 1 || !strings.HasPrefix(all[0].Fix[0], want) {
			t.Fatalf("%s: got %+v", name, all)
		}
		if c := all[0].Changes[0]; (c.Env == nil) != (name == "ffmpeg") {
			t.Errorf("%s: got %+v", name, all[0].Changes)
		}
	}
}
