// Package caches knows the settings by which a server bounds the memory that it fills as
// it runs: the buffer pool of a database, the storage of a cache, the processes of a pool.
// A bound above the memory limit has no effect before the kernel kills the server.
package caches

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Setting is the bound of one server.
type Setting struct {
	Name  string // as in its documentation: shared_buffers
	Bytes int64  // what it allows; 0 for a number of processes
	// Children is the number of processes that it allows; 0 for a size.
	Children int
	// Place is where the setting has the last word, in words: a file, or the command.
	Place string
	// Option is the argument of the command that sets it, as written, and At its index there:
	// another option may have the same value. "": another place sets it.
	Option string
	At     int
	// Fits is the share of a memory limit up to which the setting leaves room for what it
	// does not bound.
	Fits float64
	// Unit writes a size as the server reads it.
	Unit string
}

// Value is a size as the server reads it, in whole MiB.
func (s Setting) Value(bytes int64) string { return strconv.FormatInt(bytes>>20, 10) + s.Unit }

// Argument is the argument of the command with another size; "": the command does not set it.
func (s Setting) Argument(bytes int64) string {
	at := strings.LastIndexAny(s.Option, "=,")
	if strings.HasPrefix(s.Option, "-") && at < 0 { // a number of MiB behind a letter: -m64
		at = 1
	}
	if s.Option == "" {
		return ""
	}
	return s.Option[:at+1] + s.Value(bytes)
}

// Server is a process whose setting is asked for.
type Server struct {
	Exe     string   // path of the executable
	Command []string // as in /proc/PID/cmdline
	// Read reads a file of the process's own root, and List the names in a folder of it.
	Read func(name string) ([]byte, error)
	List func(name string) ([]string, error)
	// Maps reads /proc/PID/maps.
	Maps func() ([]byte, error)
}

// Of returns the bound of a server; ok is false for a program that has none, or whose
// setting could not be read.
func Of(s Server) (Setting, bool) {
	name := filepath.Base(s.Exe)
	switch {
	case name == "postgres":
		return postgres(s)
	case name == "mariadbd", name == "mysqld":
		return innodb(s)
	case name == "varnishd":
		return varnish(s.Command)
	case name == "memcached":
		return memcached(s.Command)
	case strings.HasPrefix(name, "php-fpm"):
		return fpm(s)
	}
	return Setting{}, false
}

// bytesOf parses a size with one of the units k, m, g or t, or none: bytes.
func bytesOf(text string) (int64, bool) {
	text = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(text)), "b")
	shift := 0
	for i, unit := range []string{"k", "m", "g", "t"} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			text, shift = strings.TrimSpace(number), 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > 1<<62>>shift {
		return 0, false
	}
	return n << shift, true
}

// memcached: -m is in MiB, 64 by default, and the last one counts (memcached(1)). It bounds
// the items; the table of keys and the buffers of connections come in addition.
func memcached(command []string) (Setting, bool) {
	s := Setting{Name: "-m", Bytes: 64 << 20, Place: "the command", Fits: 0.75}
	for i, arg := range command[min(1, len(command)):] {
		value, option, at := "", arg, i+1
		switch joined, ok := strings.CutPrefix(arg, "--memory-limit="); {
		case ok:
			value = joined
		case (arg == "-m" || arg == "--memory-limit") && i+2 < len(command):
			value, option, at = command[i+2], command[i+2], i+2
		case strings.HasPrefix(arg, "-m"):
			value = arg[2:]
		}
		if n, ok := bytesOf(value + "m"); ok && value != "" {
			s.Bytes, s.Option, s.At = n, option, at
		}
	}
	return s, true
}

// varnish: each -s NAME=malloc,SIZE is a storage (varnishd(1)); with several, the largest is
// taken. A storage without a size grows without a bound.
func varnish(command []string) (s Setting, ok bool) {
	for i, arg := range command {
		value, joined := strings.CutPrefix(arg, "-s")
		if !joined {
			continue
		}
		option, at := arg, i
		if value == "" && i+1 < len(command) {
			value, option, at = command[i+1], command[i+1], i+1
		}
		_, kind, named := strings.Cut(value, "=")
		if !named {
			kind = value
		}
		kind, size, _ := strings.Cut(kind, ",")
		if n, parsed := bytesOf(size); parsed && (kind == "malloc" || kind == "default") && n > s.Bytes {
			s, ok = Setting{Name: "-s " + kind, Bytes: n, Place: "the command", Option: option, At: at, Fits: 0.75, Unit: "M"}, true
		}
	}
	return s, ok
}
