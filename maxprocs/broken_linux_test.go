package maxprocs

import (
	"os"
	"syscall"
	"testing"
)

// systemBreaks are what else can stand in a file's place here.
var systemBreaks = map[string]func(t *testing.T, name string){
	"a FIFO without a writer": func(t *testing.T, name string) { must(t, syscall.Mkfifo(name, 0o644)) },
	"a FIFO with a silent writer": func(t *testing.T, name string) {
		must(t, syscall.Mkfifo(name, 0o644))
		both, err := os.OpenFile(name, os.O_RDWR, 0)
		must(t, err)
		t.Cleanup(func() { both.Close() })
	},
	"bytes without end": func(t *testing.T, name string) { must(t, os.Symlink("/dev/zero", name)) },
	"a device that never answers": func(t *testing.T, name string) {
		if _, err := os.Stat("/dev/ptmx"); err != nil {
			t.Skip("needs /dev/ptmx")
		}
		must(t, os.Symlink("/dev/ptmx", name))
	},
	"a file without the right to read": func(t *testing.T, name string) { must(t, os.WriteFile(name, []byte("0::/\n"), 0)) },
	"a socket": func(t *testing.T, name string) {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		must(t, err)
		defer syscall.Close(fd)
		if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: name}); err != nil {
			t.Skip("needs a shorter name for a socket:", err)
		}
	},
}
