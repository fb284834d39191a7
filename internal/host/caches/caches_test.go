package caches

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// server is a server with files; its folders have the files' names.
func server(exe, command string, files map[string]string) Server {
	return Server{
		Exe: exe, Command: strings.Split(command, "|"),
		Read: func(name string) ([]byte, error) {
			text, ok := files[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		},
		List: func(name string) (names []string, err error) {
			for file := range files {
				if filepath.Dir(file) == filepath.Clean(name) {
					names = append(names, filepath.Base(file))
				}
			}
			return names, nil
		},
		Maps: func() ([]byte, error) { return []byte(files["maps"]), nil },
	}
}

func TestOf(t *testing.T) {
	const mib = 1 << 20
	maps := "7f2c5a000000-7f2c9a800000 rw-s 00000000 00:01 1026 /dev/zero (deleted)\n" +
		"7f2c5a000000-7f2c5a001000 rw-s 00000000 00:01 1027 /dev/shm/PostgreSQL.1\n" +
		"55d0c0000000-55d0c4000000 r--p 00000000 08:01 99 /usr/lib/postgresql/15/bin/postgres\n"
	cnf := map[string]string{
		"/etc/mysql/my.cnf":            "[client]\ninnodb_buffer_pool_size=1\n!includedir /etc/mysql/conf.d/\n!includedir /etc/mysql/mariadb.conf.d/\n",
		"/etc/mysql/conf.d/a.cnf":      "[mysqld]\ninnodb-buffer-pool-size = 1G\n",
		"/etc/mysql/mariadb.conf.d/50": "[mysqld]\ninnodb_buffer_pool_size = 9G\n",
		"/etc/mysql/mariadb.conf.d/z.cnf": "[mariadb-10.11]\n# innodb_buffer_pool_size = 8G\n" +
			"innodb_buffer_pool_size = 2G\n[mysqldump]\ninnodb_buffer_pool_size = 3G\n",
	}
	pools := map[string]string{
		"/etc/php/fpm.conf":        "include=/etc/php/pool.d/*.conf\n",
		"/etc/php/pool.d/a.conf":   "pm.max_children = 40\n;pm.max_children = 9\n",
		"/etc/php/pool.d/b.conf":   "pm.max_children=2\n",
		"/etc/php/pool.d/c.backup": "pm.max_children=7\n",
	}
	for _, test := range []struct {
		name, exe, command string
		files              map[string]string
		bytes              int64
		children           int
		place, argument    string // with 96 MiB
	}{
		{"postgres", "/usr/lib/postgresql/15/bin/postgres", "postgres|-D|/data", map[string]string{"maps": maps}, 0x40800000, 0, "postgresql.conf, or with ALTER SYSTEM", ""},
		{"postgres by its command", "/bin/postgres", "postgres|-c|shared_buffers=1GB", map[string]string{"maps": maps}, 0x40800000, 0, "the command", "shared_buffers=96MB"},
		{"postgres by a long option", "/bin/postgres", "postgres|--shared-buffers=1GB", map[string]string{"maps": maps}, 0x40800000, 0, "the command", "--shared-buffers=96MB"},
		{"postgres by pages", "/bin/postgres", "postgres|-B|131072", map[string]string{"maps": maps}, 0x40800000, 0, "the command (-B)", ""},
		{"mariadb by its files", "/usr/sbin/mariadbd", "/usr/sbin/mariadbd", cnf, 2048 * mib, 0, "/etc/mysql/mariadb.conf.d/z.cnf", ""},
		{"mariadb by its command", "/usr/sbin/mariadbd", "mariadbd|--innodb-buffer-pool-size=256M", cnf, 256 * mib, 0, "the command", "--innodb-buffer-pool-size=96M"},
		{"mysql without files", "/usr/sbin/mysqld", "mysqld|--no-defaults", cnf, 128 * mib, 0, "the section [mysqld] of its configuration", ""},
		{"mysql with a file", "/usr/sbin/mysqld", "mysqld|--defaults-file=/etc/mysql/conf.d/a.cnf", cnf, 1024 * mib, 0, "/etc/mysql/conf.d/a.cnf", ""},
		{"varnish", "/usr/sbin/varnishd", "varnishd|-a|:80|-s|malloc,1G", nil, 1024 * mib, 0, "the command", "malloc,96M"},
		{"varnish, named", "/usr/sbin/varnishd", "varnishd|-sfirst=malloc,64m|-s|Transient=malloc,512M|-s|disk=file,/x,9G", nil, 512 * mib, 0, "the command", "Transient=malloc,96M"},
		{"memcached", "/usr/bin/memcached", "memcached|-m|1024|-u|nobody", nil, 1024 * mib, 0, "the command", "96"},
		{"memcached, joined", "/usr/bin/memcached", "memcached|-m|64|-m2048", nil, 2048 * mib, 0, "the command", "-m96"},
		{"memcached, long", "/usr/bin/memcached", "memcached|--memory-limit=512", nil, 512 * mib, 0, "the command", "--memory-limit=96"},
		{"memcached as it comes", "/usr/bin/memcached", "memcached|-p|1", nil, 64 * mib, 0, "the command", ""},
		{"PHP-FPM", "/usr/sbin/php-fpm8.2", "php-fpm: master process (/etc/php/fpm.conf)", pools, 0, 42, "/etc/php/pool.d/b.conf", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, ok := Of(server(test.exe, test.command, test.files))
			if !ok || s.Bytes != test.bytes || s.Children != test.children || s.Place != test.place {
				t.Errorf("%+v, %v; want %d bytes, %d children, set in %q", s, ok, test.bytes, test.children, test.place)
			}
			if s.Option != "" && s.Option != strings.Split(test.command, "|")[s.At] {
				t.Errorf("argument %d of %q, want %q", s.At, test.command, s.Option)
			}
			if got := s.Argument(96 * mib); got != test.argument {
				t.Errorf("the argument for 96 MiB is %q, want %q", got, test.argument)
			}
		})
	}
	for name, s := range map[string]Server{
		"another program":              server("/bin/api", "api|-m|64", nil),
		"varnish without memory":       server("/usr/sbin/varnishd", "varnishd|-s|file,/x,9G", nil),
		"postgres without the mapping": server("/bin/postgres", "postgres", map[string]string{"maps": "0-1 rw-p 0 0 0\n"}),
		"a child of PHP-FPM":           server("/usr/sbin/php-fpm8.2", "php-fpm: pool www", pools),
	} {
		if s, ok := Of(s); ok {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestAFileThatIncludesItself(t *testing.T) {
	s, ok := Of(server("/usr/sbin/mysqld", "mysqld", map[string]string{"/etc/my.cnf": "!include /etc/my.cnf\n[mysqld]\ninnodb_buffer_pool_size=64M\n"}))
	if !ok || s.Bytes != 64<<20 {
		t.Errorf("%+v, %v", s, ok)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("/usr/sbin/varnishd", "varnishd|-s|malloc,1G", "")
	f.Add("/usr/bin/memcached", "memcached|-m", "")
	f.Add("/usr/sbin/mysqld", "mysqld", "[mysqld]\n!include /etc/my.cnf\ninnodb_buffer_pool_size=64M\n")
	f.Add("/usr/bin/postgres", "postgres|-B", "1-2 rw-s 0 0 0 /dev/zero (deleted)")
	f.Add("/usr/sbin/php-fpm8.2", "php-fpm: master process (/etc/my.cnf)", "include=/etc/*\npm.max_children=3\n")
	f.Fuzz(func(t *testing.T, exe, command, text string) {
		s, ok := Of(server(exe, command, map[string]string{"/etc/my.cnf": text, "maps": text}))
		if ok && (s.Bytes < 0 || s.Children < 0 || s.Bytes+int64(s.Children) == 0 || s.Name == "") {
			t.Errorf("%+v", s)
		}
		s.Argument(1 << 20)
	})
}
