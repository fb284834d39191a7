package doctor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/heaps"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// dotnet is a .NET program under a memory limit of 400 MiB, of which 380 MiB are used.
func dotnet(processors int, env, properties map[string]string) inspect.Process {
	set := int64(380 << 20)
	return inspect.Process{
		PID: 42, Name: "App", Command: []string{"/app/App"},
		Info: runtimes.Info{Runtime: runtimes.DotNet, Version: "8.0.1", Env: env, Affinity: 8,
			Parallelism: runtimes.Parallelism{Value: processors, Source: runtimes.Predicted}},
		Memory:        inspect.Memory{State: inspect.Limited, Limit: 400 << 20, Group: "/a", SetBy: "/a", Unreclaimable: &set},
		RuntimeConfig: &inspect.RuntimeConfig{File: "/app/App.runtimeconfig.json", Properties: properties},
	}
}

func TestHeapOfDotNet(t *testing.T) {
	const mib = 1 << 20
	limit := map[string]string{"System.GC.HeapHardLimit": "209715200", "System.GC.HeapHardLimitPercent": "10"}
	for _, test := range []struct {
		name            string
		env, properties map[string]string
		want            int64
		by              string
	}{
		{"its rule", nil, nil, 300 * mib, ""},
		{"a size in the file", nil, limit, 200 * mib, "System.GC.HeapHardLimit in /app/App.runtimeconfig.json"},
		{"a variable over it", map[string]string{"DOTNET_GCHeapHardLimit": "6400000"}, limit, 100 * mib, "DOTNET_GCHeapHardLimit"},
		{"a percentage in the file", nil, map[string]string{"System.GC.HeapHardLimitPercent": "50"}, 200 * mib, "System.GC.HeapHardLimitPercent in /app/App.runtimeconfig.json"},
		{"a size of 0 is none", map[string]string{"DOTNET_GCHeapHardLimit": "0"}, map[string]string{"System.GC.HeapHardLimitPercent": "50"}, 200 * mib, "System.GC.HeapHardLimitPercent in /app/App.runtimeconfig.json"},
		{"limits of each heap", nil, map[string]string{"System.GC.HeapHardLimitSOH": "1", "System.GC.HeapHardLimitLOH": "1"}, 0, ""},
	} {
		h := heaps.Of(dotnet(2, test.env, test.properties))
		if h.Bytes != test.want || h.Setting() != test.by {
			t.Errorf("%s: got %d, %q", test.name, h.Bytes, h.Setting())
		}
	}
}

// The change of a setting in the file names the file; that of a variable is hexadecimal.
func TestTheChangeOfAHeapOfDotNet(t *testing.T) {
	for _, test := range []struct {
		env, properties map[string]string
		fix             string
		want            Change
	}{
		{nil, map[string]string{"System.GC.HeapHardLimit": "1073741824"},
			"if the live heap fits into it, lower System.GC.HeapHardLimit to 314572800 where it is set (/app/App.runtimeconfig.json)",
			Change{Setting: "System.GC.HeapHardLimit", File: "/app/App.runtimeconfig.json", Value: 300 << 20}},
		{map[string]string{"DOTNET_GCHeapHardLimit": "0x40000000"}, nil,
			"if the live heap fits into it, lower DOTNET_GCHeapHardLimit to 0x12C00000 where it is set (DOTNET_GCHeapHardLimit)",
			Change{Env: map[string]string{"DOTNET_GCHeapHardLimit": "0x12C00000"}}},
	} {
		p := dotnet(2, test.env, test.properties)
		all := Examine(inspect.Host{Online: 8, Processes: []inspect.Process{p}})
		if len(all) != 2 {
			t.Fatalf("got %q", titles(all))
		}
		for _, f := range all {
			if !strings.HasPrefix(f.Fix[0], test.fix) {
				t.Errorf("%s: got %q", f.Title, f.Fix)
			}
			if diff := cmp.Diff(test.want, f.Changes[0]); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		}
	}
}

// The settings that change how much memory the collector uses are evidence.
func TestCollectorOfDotNet(t *testing.T) {
	server := map[string]string{"System.GC.Server": "true"}
	for _, test := range []struct {
		name            string
		processors      int
		env, properties map[string]string
		want            string
	}{
		{"none", 2, nil, nil, "workstation collector"},
		{"server", 4, nil, server, "server collector (System.GC.Server in /app/App.runtimeconfig.json), which has up to a heap for each of 4 processors"},
		{"server with one processor", 1, nil, server, "workstation collector: System.GC.Server in /app/App.runtimeconfig.json sets the server collector, but there is 1 processor"},
		{"a variable over the file", 4, map[string]string{"DOTNET_gcServer": "0"}, server, "workstation collector"},
		{"all", 2, map[string]string{"DOTNET_GCConserveMemory": "5"}, map[string]string{"System.GC.Concurrent": "false", "System.GC.ConserveMemory": "3"},
			"workstation collector; no background collection (System.GC.Concurrent in /app/App.runtimeconfig.json); it conserves memory at level 5 of 9 (DOTNET_GCConserveMemory)"},
	} {
		if got := strings.Join(heaps.Collector(dotnet(test.processors, test.env, test.properties)), "; "); got != test.want {
			t.Errorf("%s: got %q", test.name, got)
		}
	}
	unread := dotnet(2, nil, nil)
	unread.RuntimeConfig = nil
	for want, p := range map[string]inspect.Process{
		"":                                       dotnet(2, nil, nil),
		"although System.GC.Server in ":          dotnet(2, nil, server),
		"even where the server collector is set": unread,
	} {
		if got := heaps.CollectorWith(p, 1); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("with one processor: got %q, want %q", got, want)
		}
	}
}

// A percentage in a variable of .NET is hexadecimal: "75" would be 117%, which is ignored.
func TestAHexadecimalPercentage(t *testing.T) {
	p := short()
	p.Info.Runtime, p.Info.Go, p.Info.Version = runtimes.DotNet, nil, "8.0.1"
	p.Info.Env = map[string]string{"DOTNET_GCHeapHardLimitPercent": "5F"}
	all := examine(p)
	if len(all) != 1 || !strings.Contains(all[0].Fix[0], "lower DOTNET_GCHeapHardLimitPercent, whose value is hexadecimal, if") {
		t.Errorf("got %+v", all)
	}
}
