package runtimes

import "testing"

// A variable is hexadecimal and overrides the file, in which numbers are decimal.
func TestCollector(t *testing.T) {
	file := map[string]string{"System.GC.HeapHardLimit": "209715200", "System.GC.Server": "true", "System.GC.Concurrent": "false", "System.GC.Hex": "0x10"}
	for _, test := range []struct {
		name, version      string
		env                map[string]string
		variable, property string
		want               Collector
	}{
		{"the file", "8.0.1", nil, "GCHeapHardLimit", "HeapHardLimit", Collector{200 << 20, "System.GC.HeapHardLimit", "/f"}},
		{"a switch", "8.0.1", nil, "gcServer", "Server", Collector{1, "System.GC.Server", "/f"}},
		{"a switch that is off", "8.0.1", nil, "gcConcurrent", "Concurrent", Collector{0, "System.GC.Concurrent", "/f"}},
		{"a prefix", "8.0.1", nil, "GCHex", "Hex", Collector{16, "System.GC.Hex", "/f"}},
		{"a variable over the file", "8.0.1", map[string]string{"DOTNET_GCHeapHardLimit": "0xC800000"}, "GCHeapHardLimit", "HeapHardLimit", Collector{200 << 20, "DOTNET_GCHeapHardLimit", ""}},
		{"without the prefix 0x", "", map[string]string{"DOTNET_gcServer": "0"}, "gcServer", "Server", Collector{0, "DOTNET_gcServer", ""}},
		{"DOTNET_ over COMPlus_", "6.0.0", map[string]string{"COMPlus_gcServer": "0", "DOTNET_gcServer": "1"}, "gcServer", "Server", Collector{1, "DOTNET_gcServer", ""}},
		{"COMPlus_ alone", "6.0.0", map[string]string{"COMPlus_gcServer": "0"}, "gcServer", "Server", Collector{0, "COMPlus_gcServer", ""}},
		{"only COMPlus_ before .NET 6", "5.0.17", map[string]string{"DOTNET_gcServer": "0"}, "gcServer", "Server", Collector{1, "System.GC.Server", "/f"}},
		{"a malformed variable hides the file", "8.0.1", map[string]string{"DOTNET_GCHeapHardLimit": "200MB!"}, "GCHeapHardLimit", "HeapHardLimit", Collector{0, "DOTNET_GCHeapHardLimit", ""}},
		{"neither", "8.0.1", nil, "GCConserveMemory", "ConserveMemory", Collector{}},
	} {
		if got := CollectorOf(Info{Runtime: DotNet, Version: test.version, Env: test.env}, test.variable, test.property, "/f", file); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}
