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

// Command is what is to be run, where, and inside which groups.
type Command struct {
	Joins []string // cgroup.procs files of the groups
	Dir   string   // working folder; empty: the caller's
	Path  string   // the program's file
	Args  []string // Args[0] is the name that the program sees
	Env   []string
	User  *User // whom it runs as; nil: the caller
	// PrivateIPC gives it System V and POSIX shared memory of its own where the
	// kernel allows that.
	PrivateIPC bool
}

// User is whom a command runs as; its only group is GID.
type User struct{ UID, GID int }

// failure is what the shim says when it cannot become the command.
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
// When it returns without an error, the command itself is running, in a session
// of its own and inside its groups. It is killed when the caller's process
// ends. The caller must Wait.
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
	// The program's own file also when it was replaced on disk meanwhile.
	cmd := exec.Command("/proc/self/exe", Word)
	cmd.Args[0] = filepath.Base(os.Args[0])
	cmd.Env = []string{"GOMAXPROCS=1"} // the command's own is among the orders
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
			err = f.explain()
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

// startUnlocked starts a process from a goroutine of its own. The kernel sends
// the signal of the parent's death when the thread that forked ends, and Go ends
// a thread with the goroutine that was locked to it, as the caller's may be.
func startUnlocked(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go func() { started <- cmd.Start() }()
	return <-started
}

// explain says what failed and what to do.
func (f failure) explain() error {
	switch {
	case f.Step == stepExec && f.Errno == syscall.ENOEXEC:
		return fmt.Errorf("run %s: %w; it is no program for this machine, or a script without a #! line", f.Name, f.Errno)
	case f.Step == stepExec && f.Errno == syscall.ENOENT && exists(f.Name):
		return fmt.Errorf("run %s: %w; the file is there, so the interpreter in its #! line or its dynamic loader is not", f.Name, f.Errno)
	case f.Step == stepExec && f.Errno == syscall.EACCES:
		return fmt.Errorf("run %s: %w; chmod +x it, and see that its file system is not mounted noexec", f.Name, f.Errno)
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
	stepExec   = "run"
)

// Main is to be called first thing in main with os.Args. In a program that was
// started as a shim it never returns.
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
	// What is set below belongs to this thread, which becomes the command.
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
	if c.Dir != "" {
		if err := os.Chdir(c.Dir); err != nil {
			return failure{stepDir, c.Dir, errno(err)}
		}
	}
	raiseFiles()
	if c.PrivateIPC {
		privateIPC()
	}
	if err := drop(c.User); err != nil {
		return failure{stepUser, strconv.Itoa(c.User.UID), errno(err)}
	}
	if err := endWith(parent); err != nil {
		return failure{stepBind, "process " + strconv.Itoa(parent), errno(err)}
	}
	return failure{stepExec, c.Path, errno(syscall.Exec(c.Path, c.Args, c.Env))}
}

// join moves this process into a group. 0 stands for whoever writes, also in a
// pid namespace.
func join(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("0")
	return err
}

// raiseFiles allows as many open files as may be: a shell's usual 1024 would
// end a server that a container runtime gives a million.
func raiseFiles() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		limit.Cur = limit.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
}

// privateIPC enters an IPC namespace, and a mount namespace with a /dev/shm of
// its own. The mounts of the machine stay in step (MS_SLAVE). What may not be
// done is left.
func privateIPC() {
	_ = unix.Unshare(unix.CLONE_NEWIPC)
	if unix.Unshare(unix.CLONE_NEWNS) != nil || unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "") != nil {
		return
	}
	_ = unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
}

// drop becomes a user, for good.
func drop(u *User) error {
	if u == nil {
		return nil
	}
	if err := unix.Setgroups([]int{u.GID}); err != nil {
		return err
	}
	if err := unix.Setresgid(u.GID, u.GID, u.GID); err != nil {
		return err
	}
	return unix.Setresuid(u.UID, u.UID, u.UID)
}

// endWith has this process killed when its parent ends, and reports a parent
// that has ended before. The kernel forgets that wish when the user changes, and
// never passes it on to other threads (PR_SET_PDEATHSIG in prctl(2)).
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
