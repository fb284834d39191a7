package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/test/testkit"
)

// Box is where the runs of an attempt take place: a folder, and a mount namespace with two
// small file systems of its own. One is at the folder's disk, the other is where runs keep
// their ledgers, so that other runs on this machine neither see nor clean these. The
// machine's mounts stay as they are.
type Box struct {
	Work string // for records and temporary files: below dir, or the small file system

	dir      string // on the machine's disk
	programs string
	mark     string // in the environment of all processes
	holder   *exec.Cmd
	mounts   []string     // at the begin
	free     func() error // the disk that is full; nil: none is
}

const (
	state      = "/run/millicore" // local.Options.State of root
	stateSize  = "256k"
	helper     = "MILLICORE_CHAOS_HELPER"
	markPrefix = "MILLICORE_CHAOS="
)

// Helper must be the first call of TestMain: a campaign starts its test program again, to
// make a box and to start programs in it. Helper returns if the program was started for
// another purpose.
func Helper() {
	do := map[string]func([]string) error{"": nil, "hold": hold, "enter": enter}[os.Getenv(helper)]
	if do == nil {
		return
	}
	if err := do(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(97)
	}
	os.Exit(0)
}

// hold mounts the file systems of a box in the mount namespace of this process, and keeps
// it until its input ends.
func hold(args []string) error {
	for _, m := range [][2]string{{args[0], "size=" + args[1] + ",mode=755"}, {state, "size=" + stateSize + ",mode=700"}} {
		if err := unix.Mount("tmpfs", m[0], "tmpfs", 0, m[1]); err != nil {
			return fmt.Errorf("mount a file system at %s: %w", m[0], err)
		}
	}
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// enter enters a mount namespace, a folder and a limit of open files, and becomes a
// program. Only a thread that shares no file system attributes may change its namespace;
// execve makes it the whole process.
func enter(args []string) error {
	runtime.LockOSThread()
	space, err := os.Open(args[0])
	if err != nil {
		return err
	}
	files, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Unshare(unix.CLONE_FS), unix.Setns(int(space.Fd()), unix.CLONE_NEWNS), syscall.Chdir(args[2]), os.Unsetenv(helper)); err != nil {
		return err
	}
	if files > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: files, Max: files}); err != nil {
			return err
		}
	}
	return syscall.Exec(args[3], args[3:], os.Environ())
}

// NewBox makes a box for a plan, which is removed when the test ends.
func NewBox(t *testing.T, programs string, p *Plan) *Box {
	t.Helper()
	dir, err := os.MkdirTemp("", "mc-chaos-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	b := &Box{dir: dir, Work: filepath.Join(dir, "work"), programs: programs, mark: markPrefix + filepath.Base(dir)}
	disk := filepath.Join(dir, "disk")
	// The users of databases enter the folders.
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(disk, 0o755), os.Mkdir(b.Work, 0o755), os.MkdirAll(state, 0o700)); err != nil {
		t.Fatal(err)
	}
	size := "24m"
	if p.Database && p.Platform == "local" {
		size = "400m" // for the files of PostgreSQL
	}
	b.holder = exec.Command("/proc/self/exe", disk, size)
	b.holder.Env = append(os.Environ(), helper+"=hold")
	b.holder.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS} // Go makes its mounts private
	input, err := b.holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { input.Close() })
	testkit.StartReady(t, b.holder, "ready")
	if p.Fault == Full {
		b.Work = disk
	}
	if err := os.Mkdir(b.Seen(b.temporary()), 0o777); err != nil {
		t.Fatal(err)
	}
	if b.mounts, err = b.mounted(); err != nil {
		t.Fatal(err)
	}
	return b
}

// Seen is the path by which this process sees a file of the box.
func (b *Box) Seen(path string) string {
	return fmt.Sprintf("/proc/%d/root%s", b.holder.Process.Pid, path)
}

func (b *Box) temporary() string { return filepath.Join(b.Work, "tmp") }

// Command is a call of millicore in the box. files limits its open files; 0: no limit.
func (b *Box) Command(files int, args ...string) *exec.Cmd {
	c := exec.Command("/proc/self/exe", append([]string{fmt.Sprintf("/proc/%d/ns/mnt", b.holder.Process.Pid), strconv.Itoa(files), b.Work,
		filepath.Join(b.programs, "millicore")}, args...)...)
	c.Env = append(os.Environ(), helper+"=enter", "TMPDIR="+b.temporary(), b.mark)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal to the group is Ctrl-C
	return c
}

// fill fills the disk of a target.
func (b *Box) fill(target Target) error {
	name := filepath.Join(b.Work, "filler")
	if target == State {
		name = filepath.Join(state, "filler")
	}
	f, err := os.Create(b.Seen(name))
	if err != nil {
		return err
	}
	b.free = func() error { return os.Remove(b.Seen(name)) }
	defer f.Close()
	for chunk := make([]byte, 1<<16); err == nil; {
		_, err = f.Write(chunk)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("fill the disk: %w", err)
	}
	return nil
}

// Free frees the disk, if one is full.
func (b *Box) Free() error {
	if b.free == nil {
		return nil
	}
	return b.free()
}

// mounted are the mounts in the box.
func (b *Box) mounted() ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", b.holder.Process.Pid))
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 {
			all = append(all, fields[4])
		}
	}
	return all, nil
}

// ofRecord are the names of a record's files and folders, and what else an attempt makes.
var ofRecord = regexp.MustCompile(`^(tmp|experiment\.yaml|(first|second|next)(/(run\.json|(trials|frames|windows|slow|steps|benchmarks)\.ndjson|latency\.hlog|summary\.json|report\.html|logs(/trial-\d+(/[^/.][^/]*\.log)?)?))?)$`)

// left are the things of runs that exist in the box: processes, files and mounts.
func (b *Box) left() (all []string, err error) {
	for _, top := range []string{b.Work, state} {
		err = errors.Join(err, filepath.WalkDir(b.Seen(top), func(path string, d fs.DirEntry, err error) error {
			name, relErr := filepath.Rel(b.Seen(top), path)
			if errors.Is(err, fs.ErrNotExist) || name == "." || top == b.Work && ofRecord.MatchString(name) {
				return nil
			}
			all = append(all, "file "+filepath.Join(top, name))
			if err == nil && d.IsDir() {
				return fs.SkipDir // a folder of data counts once
			}
			return errors.Join(err, relErr)
		}))
	}
	mounts, mountErr := b.mounted()
	for _, m := range mounts {
		if !slices.Contains(b.mounts, m) {
			all = append(all, "mount "+m)
		}
	}
	processes, processErr := b.processes()
	return append(all, processes...), errors.Join(err, mountErr, processErr)
}

// processes are those that were started in the box. A database overwrites its environment,
// and works in the folder of its data.
func (b *Box) processes() (all []string, err error) {
	pids, err := proc.PIDs()
	for _, pid := range pids {
		if pid == b.holder.Process.Pid || pid == os.Getpid() {
			continue
		}
		dir := filepath.Join("/proc", strconv.Itoa(pid))
		environment, _ := os.ReadFile(filepath.Join(dir, "environ")) // none if it ended
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		works, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if bytes.Contains(environment, []byte(b.mark+"\x00")) || bytes.Contains(line, []byte(b.dir)) || strings.HasPrefix(works, b.dir) {
			all = append(all, fmt.Sprintf("process %d %s", pid, bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return all, err
}
