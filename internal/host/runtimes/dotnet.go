package runtimes

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
)

// CollectorProperty is how the properties of .NET's garbage collector in
// runtimeconfig.json begin.
const CollectorProperty = "System.GC."

// dotnetPrefixes are how the names of .NET's variables begin, the one that counts first.
// .NET reads DOTNET_ since 6. An unknown version counts as a new one.
func dotnetPrefixes(version string) []string {
	if version != "" && !atLeast(version, 6) {
		return []string{"COMPlus_"}
	}
	return []string{"DOTNET_", "COMPlus_"}
}

// Collector is a setting of .NET's garbage collector. Its zero value is one that is not
// set.
type Collector struct {
	Value int64  // 0 too for a value that .NET does not accept
	By    string // the variable or the property
	File  string // of the property; "" for a variable
}

// Set reports whether the setting was made.
func (c Collector) Set() bool { return c.By != "" }

// String names the place of the setting.
func (c Collector) String() string {
	if c.File == "" {
		return c.By
	}
	return c.By + " in " + c.File
}

// CollectorOf returns a setting by the name of its variable without the prefix, such as
// GCHeapHardLimit, and its property, such as HeapHardLimit. A variable is hexadecimal, and
// overrides the property even if it is malformed; the property is decimal, or has the
// prefix 0x (GCToEEInterface::GetIntConfigValue in CoreCLR's vm/gcenv.ee.cpp).
func CollectorOf(info Info, variable, property, file string, properties map[string]string) Collector {
	for _, prefix := range dotnetPrefixes(info.Version) {
		if text := info.Env[prefix+variable]; text != "" {
			n, _ := strconv.ParseInt(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 64)
			return Collector{Value: max(n, 0), By: prefix + variable}
		}
	}
	text, ok := properties[CollectorProperty+property]
	if !ok {
		return Collector{}
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil && strings.EqualFold(text, "true") {
		n = 1
	}
	return Collector{Value: max(n, 0), By: CollectorProperty + property, File: file}
}

// processorCount is the variable that sets the number of processors of .NET.
func processorCount(info Info) (name string, n int, ok bool) {
	all := dotnetPrefixes(info.Version)
	for _, prefix := range all {
		if n, ok := positive(info.Env[prefix+"PROCESSOR_COUNT"]); ok && n <= math.MaxUint16 {
			return prefix + "PROCESSOR_COUNT", n, true
		}
	}
	return all[0] + "PROCESSOR_COUNT", 0, false
}

func dotnetDefault(info Info, limit Limit, m Machine) (int, string) {
	if name, n, ok := processorCount(info); ok {
		return n, fmt.Sprintf("%s=%d is set", name, n)
	}
	affinity := m.affinity()
	if limit.Leaf <= 0 {
		return affinity, fmt.Sprintf("no limit: all %d CPUs", affinity)
	}
	n := min(affinity, ceil(limit.Leaf))
	return n, fmt.Sprintf(".NET rounds the limit of %s up, to at most the %d CPUs", display.CPULimit(limit.Leaf), affinity)
}
