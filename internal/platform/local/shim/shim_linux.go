package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command is a command to run, its folder, and its groups.
type Command struct {
	Joins []string // cgroup.procs files of the groups
	Dir   string   // working folder; empty: the caller's
	Path  string   // the program's file
	Args  []string // Args[0] is the name that the program sees
	Env   []string
	User  *User // its user; nil: the caller
	// NoNewPrivileges forbids it and its children to gain rights by a set-user-ID program
	// or by capabilities of a file (prctl(2), PR_SET_NO_NEW_PRIVS).
	NoNewPrivileges bool
	// PrivateIPC gives it its own System V and POSIX shared memory if the kernel allows
	// it.
	PrivateIPC bool
}

// User is the user of a command. Its groups are GID and Groups.
type User struct {
	UID, GID int
	Groups   []int
}

// failure is the shim's message if it cannot become the command.
type failure struct {
	Step  string        `json:"step"`
	Name  string        `json:"name"` // of the file or folder
	Errno syscall.Errno `json:"errno"`
}

// Descriptors of the shim beside the three standard ones.
const (
	orders  = 3 // the Command, as JSON, is read from here
	answers = 4 // a failure is written here; closing without one is success
)

// Start starts a command with its standard streams; nil is the null device.
// When it returns without an error, the command runs in its own session and inside its
// groups. It is killed when the caller's process ends. The caller must Wait.
func Start(c Command, stdin, stdout, stderr *os.File) (*exec.Cmd, error) {
	ordersOut, ordersIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answersOut, answersIn, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, ordersOut.Close(), ordersIn.Close())
	}
	defer answersOut.Close()
	// This program's file, also if it was replaced on disk meanwhile.
	cmd := exec.Command("/proc/self/exe", Word)
	cmd.Args[0] = filepath.Base(os.Args[0])
	cmd.Env = []string{"GOMAXPROCS=1"} // the command's environment is in the orders
	cmd.ExtraFiles = []*os.File{orders - 3: ordersOut, answers - 3: answersIn}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if stdout != nil {
		cmd.Stdout = stdout
	}
	if stderr != nil {
		cmd.Stderr = stderr
	}
	err = startUnlocked(cmd)
	ordersOut.Close()
	answersIn.Close()
	if err != nil {
		ordersIn.Close()
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	sent := json.NewEncoder(ordersIn).Encode(c)
	ordersIn.Close()
	said, err := io.ReadAll(answersOut)
	switch {
	case len(said) > 0:
		var f failure
		if err = json.Unmarshal(said, &f); err == nil {
			err = f.explain(c.User)
		}
	case err == nil && sent != nil:
		err = fmt.Errorf("start %s: the shim died: %w", c.Path, sent)
	}
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return nil, err
	}
	return cmd, nil
}

// startUnlocked starts a process from a new goroutine. The kernel sends the parent-death
// signal when the thread that forked ends, and Go ends a thread with the goroutine that
// was locked to it, as the caller may be.
func startUnlocked(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go func() { started <- cmd.Start() }()
	return <-started
}

// explain describes what failed and what to do.
func (f failure) explain(user *User) error {
	switch {
	case user != nil && f.Errno == syscall.EACCES && (f.Step == stepDir || f.Step == stepExec):
		return fmt.Errorf("%s %s: %w as user %d; let that user read and enter it and the folders above it (chmod o+rx), or set another user (user: caller is the one of millicore)", f.Step, f.Name, f.Errno, user.UID)
	case f.Step == stepUser && f.Errno == syscall.EPERM:
		return fmt.Errorf("%s %s: %w; millicore has not the capabilities CAP_SETUID and CAP_SETGID: set user: caller", f.Step, f.Name, f.Errno)
	case f.Step == stepExec && f.Errno == syscall.ENOEXEC:
		return fmt.Errorf("run %s: %w; it is not a program for this machine, or it is a script without a #! line", f.Name, f.Errno)
	case f.Step == stepExec && f.Errno == syscall.ENOENT && exists(f.Name):
		return fmt.Errorf("run %s: %w; the file exists, so the interpreter in its #! line or its dynamic loader is missing", f.Name, f.Errno)
	case f.Step == stepExec && f.Errno == syscall.EACCES:
		return fmt.Errorf("run %s: %w; chmod +x it, and check that its file system is not mounted noexec", f.Name, f.Errno)
	}
	return fmt.Errorf("%s %s: %w", f.Step, f.Name, f.Errno)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

const (
	stepOrders = "read the shim's orders from"
	stepJoin   = "join the control group"
	stepDir    = "enter the folder"
	stepUser   = "become user"
	stepBind   = "end with"
	stepRights = "forbid new privileges to"
	stepExec   = "run"
)

// Main must be the first call in main, with os.Args. It never returns in a program that
// was started as a shim.
func Main(args []string) {
	if len(args) != 2 || args[1] != Word {
		return
	}
	f := become()
	said, _ := json.Marshal(f)
	syscall.Write(answers, said)
	os.Exit(127)
}

// become joins the groups and becomes the command; it returns only on failure.
func become() failure {
	// The settings below apply to this thread, which becomes the command.
	runtime.LockOSThread()
	parent := os.Getppid()
	syscall.CloseOnExec(answers)
	var c Command
	in := os.NewFile(orders, "orders")
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return failure{stepOrders, err.Error(), syscall.EPROTO}
	}
	in.Close()
	for _, file := range c.Joins {
		if err := join(file); err != nil {
			return failure{stepJoin, strings.TrimSuffix(file, "/cgroup.procs"), errno(err)}
		}
	}
	raiseFiles()
	if c.PrivateIPC {
		privateIPC()
	}
	if err := drop(c.User); err != nil {
		return failure{stepUser, strconv.Itoa(c.User.UID), errno(err)}
	}
	if c.Dir != "" { // as the user, who may not be able to enter it
		if err := os.Chdir(c.Dir); err != nil {
			return failure{stepDir, c.Dir, errno(err)}
		}
	}
	if c.NoNewPrivileges {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return failure{stepRights, c.Path, errno(err)}
		}
	}
	if err := endWith(parent); err != nil {
		return failure{stepBind, "process " + strconv.Itoa(parent), errno(err)}
	}
	return failure{stepExec, c.Path, errno(syscall.Exec(c.Path, c.Args, c.Env))}
}

// join moves this process into a group. 0 is the writing process, also in a pid
// namespace.
func join(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("0")
	return err
}

// raiseFiles raises the limit of open files to the maximum: a container runtime allows a
// million, and a shell usually only 1024.
func raiseFiles() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		limit.Cur = limit.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
}

// privateIPC enters a new IPC namespace, and a mount namespace with its own /dev/shm. It
// still receives the machine's mounts (MS_SLAVE). It ignores missing permissions.
func privateIPC() {
	_ = unix.Unshare(unix.CLONE_NEWIPC)
	if unix.Unshare(unix.CLONE_NEWNS) != nil || unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "") != nil {
		return
	}
	_ = unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
}

// drop changes to a user permanently.
func drop(u *User) error {
	if u == nil {
		return nil
	}
	for _, output := range []int{syscall.Stdout, syscall.Stderr} {
		if err := own(output, u); err != nil {
			return err
		}
	}
	if err := unix.Setgroups(append([]int{u.GID}, u.Groups...)); err != nil {
		return err
	}
	if err := unix.Setresgid(u.GID, u.GID, u.GID); err != nil {
		return err
	}
	return unix.Setresuid(u.UID, u.UID, u.UID)
}

// own gives an output to a user: a program that opens /dev/stdout opens the file behind it
// again, as its own user. Devices and sockets stay as they are.
func own(output int, u *User) error {
	var stat unix.Stat_t
	if err := unix.Fstat(output, &stat); err != nil {
		return err
	}
	if kind := stat.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFIFO || int(stat.Uid) == u.UID {
		return nil
	}
	return unix.Fchown(output, u.UID, int(stat.Gid))
}

// endWith makes the kernel kill this process when its parent ends, and reports a parent
// that has already ended. The kernel clears the setting when the user changes, and does
// not copy it to other threads (PR_SET_PDEATHSIG in prctl(2)).
func endWith(parent int) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if os.Getppid() != parent {
		return syscall.ESRCH
	}
	return nil
}

// errno is the kernel's part of an error.
func errno(err error) syscall.Errno {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, fs.ErrNotExist) {
		return syscall.ENOENT
	}
	return syscall.EIO
}
