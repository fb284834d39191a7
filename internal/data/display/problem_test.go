package display

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"testing"
)

// internals are what only those who know Go's packages understand.
var internals = regexp.MustCompile(`dial tcp|connect: |strconv\.|context (deadline|canceled)|i/o timeout|x509:|lookup .* no such host|invalid syntax|open \S+: |no such file|is a directory|exec: |(Get|Post) "`)

func TestProblemsHaveNoTextsOfGo(t *testing.T) {
	_, number := strconv.Atoi("many")
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80},
		Err: &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}}
	unknown := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Name: "nowhere.invalid", Err: "no such host", IsNotFound: true}}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a closed port":           {fmt.Errorf("ready: %w", refused), "ready: 127.0.0.1:80 refused the connection: nothing listens there"},
		"a name":                  {fmt.Errorf("ready: %w", unknown), "ready: no host is named nowhere.invalid"},
		"a number":                {fmt.Errorf("--cpus: %w", number), `--cpus: "many" is not a number`},
		"a time limit":            {fmt.Errorf("ask the server: %w", context.DeadlineExceeded), "ask the server: no answer within the time limit"},
		"several":                 {errors.Join(refused, number), "127.0.0.1:80 refused the connection: nothing listens there\n\"many\" is not a number"},
		"as text":                 {errors.New(`ready: Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused`), "ready: 127.0.0.1:1 refused the connection: nothing listens there"},
		"as text, a name":         {errors.New("dial tcp: lookup nowhere.invalid on 127.0.0.53:53: no such host"), "no host is named nowhere.invalid"},
		"as text, a time limit":   {errors.New(`Get "http://h/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`), "no answer within the time limit"},
		"as text, a certificate":  {errors.New("tls: failed to verify certificate: x509: certificate signed by unknown authority"), "certificate signed by unknown authority"},
		"nothing of Go's own":     {errors.New("limits.cpu: want a quantity"), "limits.cpu: want a quantity"},
		"a file that has no type": {&os.PathError{Op: "open", Path: "x.yaml", Err: syscall.EACCES}, "x.yaml: permission denied"},
		"a file that is missing":  {fmt.Errorf("--cacert: %w", &os.PathError{Op: "open", Path: "ca.pem", Err: syscall.ENOENT}), "--cacert: ca.pem does not exist"},
		"a folder":                {&os.PathError{Op: "read", Path: "/etc", Err: syscall.EISDIR}, "/etc is a folder; name a file"},
		"a folder that is a file": {&os.PathError{Op: "mkdir", Path: "x/y", Err: syscall.ENOTDIR}, "the folder x/y cannot be made: not a directory"},
		"a program":               {&exec.Error{Name: "gunicorn", Err: exec.ErrNotFound}, "there is no program gunicorn in PATH"},
		"a file that is cut off":  {errors.New("read run.json: unexpected end of JSON input"), "read run.json: the file is empty or cut off"},
		"a file that is no JSON":  {errors.New("read run.json: invalid character 'h' looking for beginning of value"), "read run.json: the file is not JSON"},
		"too many open files":     {fmt.Errorf("read it: %w", &os.PathError{Op: "open", Path: "/proc/1/stat", Err: syscall.EMFILE}), "read it: /proc/1/stat: too many open files; raise the limit of this process (ulimit -n)"},
		"too many pipes":          {fmt.Errorf("start it: %w", os.NewSyscallError("pipe2", syscall.EMFILE)), "start it: pipe2: too many open files; raise the limit of this process (ulimit -n)"},
		"another call":            {&os.PathError{Op: "write", Path: "cpu.max", Err: syscall.EACCES}, "write cpu.max: permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Problem(c.err)
			if got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if left := internals.FindString(got); left != "" {
				t.Errorf("%q is left in %q", left, got)
			}
		})
	}
}
