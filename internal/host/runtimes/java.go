package runtimes

// JavaOptions returns the options of the JVM itself in a command: the arguments before
// the class, the module or -jar.
func JavaOptions(command []string) []string { return javaOptions(command) }
