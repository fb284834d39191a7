package workload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/millicore/millicore/workloads"

	"github.com/millicore/millicore/internal/base/safefile"
)

// modules is the folder of the packages, relative to the scripts.
var modules = filepath.Join("..", "node_modules")

// runtimeDir is the folder of npm's Node.js, in that of the packages.
const runtimeDir = "runtime"

// installation is a folder of the cache, named by a hash of its content: one for each
// version of the package lists, and in it one for each version of the scripts,
// so that a change of a script does not reinstall all packages.
//
//	<hash of the lists>/package.json, package-lock.json, node_modules/, runtime/
//	<hash of the lists>/<hash of the scripts>/javascript, node, bun
//
// Each is made under another name and then renamed, so an existing folder is complete,
// and of two concurrent millicores the second finds the folder of the first. Its
// modification time is the time of its last use; see prune.
type installation struct {
	cache    string
	withNode bool // npm's Node.js too, in the folder runtime
	progress func(line string)
}

// make returns the folder with the scripts, and makes what is missing.
func (in installation) make(ctx context.Context) (string, error) {
	name, err := hash(workloads.Packages)
	if err != nil {
		return "", err
	}
	if in.withNode {
		more, err := hash(workloads.Runtime)
		if err != nil {
			return "", err
		}
		name += "-node-" + more
	}
	packages := filepath.Join(in.cache, name)
	use(packages)
	if err := once(packages, func(dir string) error { return in.npm(ctx, dir, packages) }); err != nil {
		return "", fmt.Errorf("install the packages of the sample services in %s: %w", in.cache, err)
	}
	if name, err = hash(workloads.Scripts); err != nil {
		return "", err
	}
	scripts := filepath.Join(packages, name)
	use(scripts)
	if err := once(scripts, func(dir string) error { return os.CopyFS(dir, workloads.Scripts) }); err != nil {
		return "", fmt.Errorf("unpack the sample services into %s: %w", packages, err)
	}
	for dir, keep := range map[string]string{in.cache: packages, packages: scripts} {
		_ = safefile.For(keep, func() error { in.prune(dir, keep); return nil }) // it reports its errors
	}
	return scripts, nil
}

// npm installs the packages into dir, as the lock file says.
func (in installation) npm(ctx context.Context, dir, final string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("npm is not installed; install it (Debian: apt-get install npm; else it comes with Node.js)")
	}
	in.progress("installing the packages of the sample services into " + final + " (npm ci, once)")
	if err := os.CopyFS(dir, workloads.Packages); err != nil {
		return err
	}
	if err := ci(ctx, npm, dir); err != nil || !in.withNode {
		return err
	}
	if err := os.CopyFS(dir, workloads.Runtime); err != nil {
		return err
	}
	return ci(ctx, npm, filepath.Join(dir, runtimeDir))
}

// ci runs npm ci in a folder. The scripts of packages do not run: they are programs of
// others that would run as the caller, often root. The lists are chosen so that no
// package needs its script.
func ci(ctx context.Context, npm, dir string) error {
	c := exec.CommandContext(ctx, npm, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
	c.Dir = dir
	// npm has child processes; all of them end with ctx.
	of, err := safefile.RightsOf(dir)
	if err != nil {
		return err
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: of.Credential()}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, lastLines(out))
	}
	return nil
}

// unfinished is the prefix of folders that are being made or removed.
const unfinished = "unfinished-"

// once makes a folder: it calls fill for a temporary folder and renames that. It does
// nothing if the folder exists.
func once(final string, fill func(dir string) error) error {
	if _, err := os.Stat(final); err == nil {
		return nil
	}
	if err := safefile.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return err
	}
	return safefile.For(final, func() error { return fillOnce(final, fill) })
}

func fillOnce(final string, fill func(dir string) error) error {
	dir, err := os.MkdirTemp(filepath.Dir(final), unfinished)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)                      // after an error, or if another process was first
	if err := os.Chmod(dir, 0o755); err != nil { // a limit may run the service as another user
		return err
	}
	if err := fill(dir); err != nil {
		return err
	}
	err = os.Rename(dir, final)
	if _, there := os.Stat(final); there == nil {
		return nil // made by this process, or by another one with the same content
	}
	return err
}

// hash names the content of files: the beginning of a SHA-256 over their names,
// lengths and bytes.
func hash(files fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(data), data)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

// lastLines is the end of a program's output, on one line.
func lastLines(out []byte) string {
	lines := strings.FieldsFunc(string(bytes.TrimSpace(out)), func(r rune) bool { return r == '\n' })
	return strings.Join(lines[max(0, len(lines)-4):], "; ")
}
