package heaps

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/host/caches"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Change is how a maximum heap size is set to another: the variables, the command, or the setting
// of a file, of which those that do not change are empty.
type Change struct {
	Words   string // the new size, as it is written
	Env     map[string]string
	Command []string
	Setting string
	File    string
	Value   int
}

// Lowered is the change of the option that sets the maximum heap size of a process to n bytes.
func (h Limit) Lowered(p inspect.Process, n int64) (c Change) {
	mib := strconv.FormatInt(n>>20, 10)
	var value string
	c.Words = mib + " MiB"
	switch h.By {
	case "-Xmx":
		value = "-Xmx" + mib + "m"
	case "-XX:MaxHeapSize":
		value = "-XX:MaxHeapSize=" + mib + "m"
	case "-XX:MaxRAMPercentage", "-XX:MinRAMPercentage":
		share := strconv.FormatInt(100*n/max(1, p.Memory.Limit), 10)
		value, c.Words = h.By+"="+share, share
	case "--max-old-space-size":
		value = h.By + "=" + mib
	case "GOMEMLIMIT":
		value = mib + "MiB"
	default: // .NET's; its variables are hexadecimal
		if strings.HasSuffix(h.By, "Percent") {
			n = 100 * n / max(1, p.Memory.Limit)
		}
		if h.File != "" {
			return Change{Words: strconv.FormatInt(n, 10), Setting: h.By, File: h.File, Value: int(n)}
		}
		value = fmt.Sprintf("0x%X", n)
		c.Words = value
	}
	if h.Where == "" {
		c.Command = slices.Clone(p.Command)
		for i, arg := range c.Command {
			if arg == h.Option {
				c.Command[i] = value
			}
		}
	} else {
		c.Env = map[string]string{h.Where: strings.ReplaceAll(p.Info.Env[h.Where], h.Option, value)}
	}
	if p.Info.Runtime == runtimes.JVM && c.startLowered(p, n) {
		c.Words += " (and the initial size with it: a JVM whose initial size is above the maximum does not start)"
	}
	return c
}

// startLowered adds to a change of the JVM's maximum heap size that of the initial one, in
// each place that sets one above n bytes.
func (c *Change) startLowered(p inspect.Process, n int64) (lowered bool) {
	within := func(option string) string {
		for _, name := range []string{"-Xms", "-XX:InitialHeapSize=", "-XX:MinHeapSize="} {
			value, ok := strings.CutPrefix(option, name)
			if size, isSize := caches.JavaSize(value); ok && isSize && size > n {
				return name + strconv.FormatInt(n>>20, 10) + "m"
			}
		}
		return option
	}
	for i, option := range runtimes.JavaOptions(p.Command) {
		value := within(option)
		if value == option {
			continue
		}
		if c.Command == nil {
			c.Command = slices.Clone(p.Command)
		}
		c.Command[i+1], lowered = value, true
	}
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		for _, option := range strings.Fields(p.Info.Env[name]) {
			value := within(option)
			if value == option {
				continue
			}
			if c.Env == nil {
				c.Env = map[string]string{}
			}
			c.Env[name], lowered = strings.ReplaceAll(cmp.Or(c.Env[name], p.Info.Env[name]), option, value), true
		}
	}
	return lowered
}
