package runtimes

import (
	"path"
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
			if strings.HasPrefix(arg, processorsFlag) || arg == noContainerFlag {
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
		if isDenoParallel(args) {
			found = []string{"serve", "--parallel"}
		}
	case Python, Ruby:
		if server != "" {
			found = workerFlags(args)
		}
	}
	return found
}

// isDenoParallel reports whether the command is `deno serve --parallel`, which runs
// several isolates.
func isDenoParallel(args []string) bool {
	return slices.Contains(args, "serve") && slices.Contains(args, "--parallel")
}

// workerFlags returns the arguments that set the number of workers of gunicorn,
// uvicorn and puma: -w 2, -w2, --workers 2, --workers=2.
func workerFlags(args []string) []string {
	var found []string
	for i, arg := range args {
		switch {
		case arg == "-w" || arg == "--workers":
			found = append(found, arg)
			if i+1 < len(args) {
				found = append(found, args[i+1])
			}
		case strings.HasPrefix(arg, "--workers="), strings.HasPrefix(arg, "-w") && len(arg) > 2 && '0' <= arg[2] && arg[2] <= '9':
			found = append(found, arg)
		}
	}
	return found
}

// servers are application servers whose number of workers WEB_CONCURRENCY sets.
var servers = []string{"gunicorn", "uvicorn", "hypercorn", "puma"}

// serverOf finds an application server in a command: as the program, its script, the
// module after -m, or in a process title as gunicorn and puma set it.
func serverOf(args []string) string {
	for i, arg := range args {
		if i > 3 {
			break
		}
		word, _, _ := strings.Cut(path.Base(arg), " ")
		word = strings.TrimSuffix(word, ":")
		if slices.Contains(servers, word) {
			return word
		}
	}
	return ""
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
