package caches

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// postgres: the shared memory as it is mapped. Nearly all of it is shared_buffers, wherever
// that is set. ALTER SYSTEM overrides the configuration file, and the command overrides both
// (PostgreSQL's documentation, "Setting Parameters", which recommends a quarter of the
// memory for shared_buffers).
func postgres(s Server) (Setting, bool) {
	maps, err := s.Maps()
	if err != nil {
		return Setting{}, false
	}
	set := Setting{Name: "shared_buffers", Bytes: shared(maps), Place: "postgresql.conf, or with ALTER SYSTEM", Fits: 0.25, Unit: "MB"}
	for i, arg := range s.Command {
		name, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "--"), "-c"), "=")
		switch {
		case ok && strings.ReplaceAll(name, "-", "_") == set.Name:
			set.Option, set.At, set.Place = arg, i, "the command"
		case i > 0 && strings.HasPrefix(arg, "-B"): // in pages of 8 KiB
			set.Place = "the command (-B)"
		}
	}
	return set, set.Bytes > 0
}

// shared is the size of the largest mapping of anonymous shared memory, in bytes
// (proc_pid_maps(5)).
//
//	7f2c5a000000-7f2c9a000000 rw-s 00000000 00:01 1026 /dev/zero (deleted)
func shared(maps []byte) (most int64) {
	for line := range bytes.Lines(maps) {
		fields := strings.Fields(string(line))
		if len(fields) < 7 || !strings.HasSuffix(fields[1], "s") || fields[5] != "/dev/zero" && fields[5] != "/anon_hugepage" {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		low, err1 := strconv.ParseUint(from, 16, 63)
		high, err2 := strconv.ParseUint(to, 16, 63)
		if err1 == nil && err2 == nil && high > low {
			most = max(most, int64(high-low))
		}
	}
	return most
}

// innodb: the command overrides the files, and of several values the last one counts
// (MariaDB's documentation, "Configuring MariaDB with Option Files"). 128 MiB is the default.
// Half of the memory leaves room for the caches that belong to connections.
func innodb(s Server) (Setting, bool) {
	set := Setting{Name: "innodb_buffer_pool_size", Bytes: 128 << 20, Place: "the section [mysqld] of its configuration", Fits: 0.5, Unit: "M"}
	files, more := []string{"/etc/my.cnf", "/etc/mysql/my.cnf"}, []string(nil)
	for _, arg := range s.Command[min(1, len(s.Command)):] {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "--defaults-file":
			files = []string{value}
		case "--defaults-extra-file":
			more = append(more, value)
		case "--no-defaults":
			files = nil
		}
	}
	r := options{server: s, set: &set}
	for _, name := range append(files, more...) {
		r.read(name, 0)
	}
	for i, arg := range s.Command {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if n, ok := bytesOf(value); ok && strings.ReplaceAll(name, "-", "_") == set.Name {
			set.Bytes, set.Option, set.At, set.Place = n, arg, i, "the command"
		}
	}
	return set, true
}

// options reads option files.
type options struct {
	server Server
	set    *Setting
	files  int
}

// read reads an option file and those that it includes. A file that is not there is none.
//
//	[mysqld]
//	innodb-buffer-pool-size = 2G
//	!includedir /etc/mysql/conf.d/
func (r *options) read(name string, depth int) {
	const deepest, most = 8, 64
	if r.files++; depth > deepest || r.files > most {
		return
	}
	text, err := r.server.Read(name)
	if err != nil {
		return
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		switch dir, included := strings.CutPrefix(line, "!includedir "); {
		case included:
			dir = strings.TrimSpace(dir)
			names, _ := r.server.List(dir)
			slices.Sort(names)
			for _, file := range names {
				if strings.HasSuffix(file, ".cnf") {
					r.read(filepath.Join(dir, file), depth+1)
				}
			}
		case strings.HasPrefix(line, "!include "):
			r.read(strings.TrimSpace(strings.TrimPrefix(line, "!include ")), depth+1)
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case ofTheServer(section) && strings.ReplaceAll(strings.TrimSpace(key), "-", "_") == r.set.Name:
			if n, ok := bytesOf(strings.Trim(strings.TrimSpace(value), `"'`)); ok {
				r.set.Bytes, r.set.Place = n, name
			}
		}
	}
}

// ofTheServer reports whether the server reads a section; those of versions, such as
// mariadb-10.11, too.
func ofTheServer(section string) bool {
	name, _, _ := strings.Cut(section, "-")
	return slices.Contains([]string{"mysqld", "server", "mariadb", "mariadbd"}, name)
}
