package vm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// machine has the programs and files for booting.
type machine struct {
	qemu    string   // the program
	data    []string // its folders with firmware
	library string   // LD_LIBRARY_PATH for it; empty: the host's own libraries
	kernel  string
}

// section is the output of one test program in one situation.
type section struct {
	situation, program string
	output             []byte
	outcome            string // "ok", or how the program ended; empty: it did not end
}

// Bounds of a boot. It takes two minutes, and more than five if other processes use half
// of this machine. The machine writes a line when a test begins and ends, so a silence is
// much longer than any test only if the machine itself hangs, which emulated machines do
// rarely.
const (
	bootLimit    = 15 * time.Minute
	silenceLimit = 4 * time.Minute
)

// errSilent ends a machine that hangs.
var errSilent = fmt.Errorf("its console was silent for %v", silenceLimit)

// console collects a machine's output, and calls hangs if none arrives for the limit.
type console struct {
	output bytes.Buffer
	limit  time.Duration
	timer  *time.Timer
}

func listen(limit time.Duration, hangs func()) *console {
	return &console{limit: limit, timer: time.AfterFunc(limit, hangs)}
}

func (c *console) Write(p []byte) (int, error) {
	c.timer.Reset(c.limit)
	return c.output.Write(p)
}

// boot boots the machine in a layout with an initramfs and returns the console's output,
// which is complete if the error is nil. The error is errSilent if the machine hung.
func (m machine) boot(ctx context.Context, layout, initramfs string) ([]byte, error) {
	return m.bootFor(ctx, bootLimit, layout, initramfs)
}

// bootFor boots within another limit. Parameters of the kernel's command line may follow
// the layout.
func (m machine) bootFor(ctx context.Context, limit time.Duration, layout, initramfs string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	out := listen(silenceLimit, func() { end(errSilent) })
	defer out.timer.Stop()
	// Without KVM: nested in another machine it may exist and hang. An old CPU, because
	// wide vectors take long to emulate.
	args := []string{"-machine", "q35", "-accel", "tcg", "-cpu", "Nehalem-v1", "-m", "1024", "-smp", "2"}
	for _, dir := range m.data {
		args = append(args, "-L", dir)
	}
	args = append(args, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio",
		"-kernel", m.kernel, "-initrd", initramfs,
		// quiet, because kernel messages would mix with the output of tests; psi=1, because
		// distributions switch pressure off.
		"-append", "console=ttyS0 loglevel=1 panic=-1 psi=1 mitigations=off layout="+layout)
	cmd := exec.CommandContext(ctx, m.qemu, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if m.library != "" {
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+m.library)
	}
	var problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &problems
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", filepath.Base(m.qemu), errors.Join(context.Cause(ctx), err), strings.TrimSpace(problems.String()))
	}
	return out.output.Bytes(), err
}

// sections splits the console's text at the lines of the machine's process 1, until that
// reports its end. It also returns the text outside of sections, which is empty if
// everything worked.
func sections(console []byte) (all []section, outside string, done bool) {
	var rest strings.Builder
	in := false
	lines := bufio.NewReader(bytes.NewReader(bytes.ReplaceAll(console, []byte("\r"), nil)))
	for {
		line, err := lines.ReadString('\n')
		words := strings.SplitN(strings.TrimSpace(line), " ", 5)
		switch {
		case len(words) == 4 && words[0] == "VM" && words[1] == "begin":
			all = append(all, section{situation: words[2], program: words[3]})
			in = true
		case in && len(words) == 5 && words[0] == "VM" && words[1] == "end":
			all[len(all)-1].outcome = words[4]
			in = false
		case !in && strings.TrimSpace(line) == "VM done":
			return all, strings.TrimSpace(rest.String()), true
		case in:
			last := &all[len(all)-1]
			last.output = append(last.output, line...)
		default:
			rest.WriteString(line)
		}
		if err == io.EOF {
			return all, strings.TrimSpace(rest.String()), false
		}
	}
}
