package caches

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// fpm: the sum of pm.max_children of all pools, which run at the same time. The master's
// title has the path of its configuration, which includes those of the pools (PHP's
// documentation, "FPM Configuration").
//
//	php-fpm: master process (/etc/php/8.2/fpm/php-fpm.conf)
func fpm(s Server) (Setting, bool) {
	if len(s.Command) == 0 {
		return Setting{}, false
	}
	_, name, ok := strings.Cut(s.Command[0], "master process (")
	name, _, closed := strings.Cut(name, ")")
	if !ok || !closed {
		return Setting{}, false
	}
	set := Setting{Name: "pm.max_children", Fits: 0.75}
	files := []string{name}
	const most = 64
	for i := 0; i < min(len(files), most); i++ {
		text, err := s.Read(files[i])
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			key, value, found := strings.Cut(line, "=")
			if value = strings.TrimSpace(value); !found {
				continue
			}
			switch strings.TrimSpace(key) {
			case "include":
				files = append(files, s.matching(value)...)
			case set.Name:
				if n, err := strconv.Atoi(value); err == nil && n > 0 && n < 1<<20 {
					set.Children, set.Place = set.Children+n, files[i]
				}
			}
		}
	}
	return set, set.Children > 0
}

// matching are the files that match a pattern in the last element of its path.
func (s Server) matching(pattern string) (files []string) {
	dir := filepath.Dir(pattern)
	names, _ := s.List(dir)
	slices.Sort(names)
	for _, name := range names {
		if ok, _ := filepath.Match(filepath.Base(pattern), name); ok {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files
}
