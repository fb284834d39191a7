package runtimes

import (
	"regexp"
	"slices"
	"strings"
)

// workerProcesses finds nginx's directive in an argument.
var workerProcesses = regexp.MustCompile(`(\bworker_processes\s+)([A-Za-z0-9]+)(\s*;)`)

// flags returns the arguments that set a runtime's parallelism, unchanged.
func flags(runtime Name, server string, args []string) []string {
	var found []string
	switch runtime {
	case JVM:
		for _, arg := range javaOptions(args) {
			if strings.HasPrefix(arg, processorsFlag) || arg == noContainerFlag || strings.HasPrefix(arg, "@") {
				found = append(found, arg)
			}
		}
	case Nginx:
		for _, arg := range args {
			if workerProcesses.MatchString(arg) {
				found = append(found, arg)
			}
		}
	case Deno:
		switch {
		case isDenoParallel(args):
			found = []string{"serve", "--parallel"}
		case isDenoServe(args):
			found = []string{"serve"}
		}
	case Python, Ruby:
		if s, ok := serverNamed(server); ok {
			found = optionFlags(s.options, args)
		}
	case Envoy:
		for i, arg := range args {
			switch {
			case arg == cpusetThreads, strings.HasPrefix(arg, "--concurrency="):
				found = append(found, arg)
			case arg == "--concurrency" && i+1 < len(args):
				found = append(found, arg, args[i+1])
			}
		}
	case Erlang:
		found = erlangFlags(args)
	default:
		found = optionFlags(programOf(runtime).options, args)
	}
	return found
}

// isDenoServe reports whether the subcommand of deno is serve.
func isDenoServe(args []string) bool {
	for _, arg := range args[min(1, len(args)):] {
		if !strings.HasPrefix(arg, "-") {
			return arg == "serve"
		}
	}
	return false
}

// isDenoParallel reports whether the command is `deno serve --parallel`, which runs
// several isolates.
func isDenoParallel(args []string) bool {
	return slices.Contains(args, "serve") && slices.Contains(args, "--parallel")
}

const (
	processorsFlag  = "-XX:ActiveProcessorCount="
	noContainerFlag = "-XX:-UseContainerSupport"
	containerFlag   = "-XX:+UseContainerSupport"
)

// javaOptions returns the options of the JVM itself: the arguments before the class,
// the module or -jar.
func javaOptions(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	args = args[1:]
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; arg {
		case "-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules",
			"--add-opens", "--add-exports", "--add-reads", "--upgrade-module-path":
			i++
		case "-jar", "-m", "--module":
			return args[:i]
		default:
			if !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "@") {
				return args[:i]
			}
		}
	}
	return args
}

type jvmSettings struct {
	processors  int    // 0: not set
	where       string // the place that set it
	noContainer bool
}

// jvmOptions reads the options in HotSpot's order, in which the last one wins:
// JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS, the command, _JAVA_OPTIONS.
func jvmOptions(info Info) jvmSettings {
	var s jvmSettings
	read := func(where string, options []string) {
		for _, option := range options {
			if value, ok := strings.CutPrefix(option, processorsFlag); ok {
				if n, ok := positive(value); ok {
					s.processors, s.where = n, where
				}
			}
			switch option {
			case noContainerFlag:
				s.noContainer = true
			case containerFlag:
				s.noContainer = false
			}
		}
	}
	read("JAVA_TOOL_OPTIONS", strings.Fields(info.Env["JAVA_TOOL_OPTIONS"]))
	read("JDK_JAVA_OPTIONS", strings.Fields(info.Env["JDK_JAVA_OPTIONS"]))
	read("the command", info.Flags)
	read("_JAVA_OPTIONS", strings.Fields(info.Env["_JAVA_OPTIONS"]))
	return s
}
