package local

import (
	"path"
	"strings"
)

// inForeground are the options by which servers that detach themselves stay in the
// foreground, by the beginning of the program's name.
var inForeground = []struct{ program, option string }{
	{"nginx", "-g 'daemon off;'"},
	{"apache2", "-DFOREGROUND"}, // and apache2ctl
	{"apachectl", "-DFOREGROUND"},
	{"httpd", "-DFOREGROUND"},
	{"lighttpd", "-D"},
	{"php-fpm", "-F"},
	{"haproxy", "-db"},
	{"redis-server", "--daemonize no"},
	{"varnishd", "-F"},
}

// foreground is what a service that left processes in the background has to do.
func foreground(program string) string {
	const must = "a service must stay in the foreground"
	name := path.Base(program)
	for _, one := range inForeground {
		if strings.HasPrefix(name, one.program) {
			return must + ": start " + name + " with " + one.option
		}
	}
	return must + " (nginx does with -g 'daemon off;')"
}
