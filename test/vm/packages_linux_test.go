package vm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// kernels are the packages that depend on the newest kernel of their kind: the
// small ones for virtual machines first.
var kernels = []string{"linux-image-cloud-amd64", "linux-image-virtual", "linux-image-amd64"}

// errMissing wraps reasons why this host cannot boot the machine.
var errMissing = errors.New("cannot boot a virtual machine here")

// prepare makes sure that qemu and a kernel are in the cache folder, or finds
// qemu installed.
func prepare(cache string) (machine, error) {
	if runtime.GOARCH != "amd64" {
		return machine{}, fmt.Errorf("%w: the machine is made for amd64 hosts", errMissing)
	}
	for _, program := range []string{"apt-get", "apt-cache", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			return machine{}, fmt.Errorf("%w: no %s, which fetches qemu and a kernel", errMissing, program)
		}
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return machine{}, err
	}
	var m machine
	var err error
	if m.kernel, err = kernel(cache); err != nil {
		return machine{}, err
	}
	if installed, err := exec.LookPath("qemu-system-x86_64"); err == nil {
		m.qemu = installed
		return m, nil
	}
	root, err := qemu(cache)
	if err != nil {
		return machine{}, err
	}
	m.qemu = filepath.Join(root, "usr/bin/qemu-system-x86_64")
	m.data = []string{filepath.Join(root, "usr/share/qemu"), filepath.Join(root, "usr/share/seabios")}
	m.library = filepath.Join(root, "usr/lib/x86_64-linux-gnu") + ":" + filepath.Join(root, "lib/x86_64-linux-gnu")
	return m, nil
}

// kernel returns the newest unpacked kernel, fetching it first if need be. A
// cached one of another version does too.
func kernel(cache string) (string, error) {
	pattern := filepath.Join(cache, "kernel", "boot", "vmlinuz-*")
	if found, _ := filepath.Glob(pattern); len(found) > 0 {
		return found[len(found)-1], nil
	}
	for _, meta := range kernels {
		packages, err := dependencies(meta)
		if err != nil {
			continue
		}
		if _, err := unpacked(cache, "kernel", packages); err != nil {
			return "", err
		}
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	return "", fmt.Errorf("%w: apt knows no kernel (%s); run apt-get update", errMissing, strings.Join(kernels, ", "))
}

// dependencies returns the kernel packages that a package depends on.
func dependencies(meta string) ([]string, error) {
	out, err := exec.Command("apt-cache", "depends", "--important", meta).Output()
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "Depends: linux-image-"); ok {
			all = append(all, "linux-image-"+name)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s depends on no kernel", meta)
	}
	return all, nil
}

// qemu returns the folder into which qemu and the libraries that this host
// lacks were unpacked.
func qemu(cache string) (string, error) {
	out, err := exec.Command("apt-get", "install", "--simulate", "--no-install-recommends", "qemu-system-x86").Output()
	if err != nil {
		return "", fmt.Errorf("%w: apt cannot install qemu-system-x86; run apt-get update", errMissing)
	}
	var packages []string
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "Inst "); ok {
			name, _, _ := strings.Cut(rest, " ")
			packages = append(packages, name)
		}
	}
	return unpacked(cache, "qemu", packages)
}

// unpacked fetches packages and unpacks them into a folder of the cache, unless
// that was done before.
func unpacked(cache, name string, packages []string) (string, error) {
	root := filepath.Join(cache, name)
	mark := filepath.Join(root, ".packages")
	slices.Sort(packages)
	want := strings.Join(packages, "\n")
	if have, err := os.ReadFile(mark); err == nil && string(have) == want {
		return root, nil
	}
	fetched, err := os.MkdirTemp(cache, "fetch-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fetched)
	if err := download(cache, fetched, packages); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(fetched, "*.deb"))
	if err != nil {
		return "", err
	}
	into := filepath.Join(fetched, "root")
	for _, file := range files {
		if out, err := exec.Command("dpkg-deb", "--extract", file, into).CombinedOutput(); err != nil {
			return "", fmt.Errorf("unpack %s: %w: %s", file, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(into, ".packages"), []byte(want), 0o644); err != nil {
		return "", err
	}
	// It appears under its name only when it is whole.
	if err := os.RemoveAll(root); err != nil {
		return "", err
	}
	return root, os.Rename(into, root)
}

// download fetches packages by the host's lists of packages. Where those are
// too old to be true, it fetches lists of its own, which needs no rights.
func download(cache, into string, packages []string) error {
	fetch := func(options ...string) ([]byte, error) {
		cmd := exec.Command("apt-get", append(append(options, "download"), packages...)...)
		cmd.Dir = into
		return cmd.CombinedOutput()
	}
	if _, err := fetch(); err == nil {
		return nil
	}
	var own []string
	for option, folder := range map[string]string{"Dir::State::lists": "lists", "Dir::Cache": "cache"} {
		dir := filepath.Join(cache, "apt", folder)
		if err := os.MkdirAll(filepath.Join(dir, "partial"), 0o755); err != nil {
			return err
		}
		own = append(own, "--option="+option+"="+dir)
	}
	if out, err := exec.Command("apt-get", append(own, "update")...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: fetch lists of packages: %w: %s", errMissing, err, lastLine(out))
	}
	if out, err := fetch(own...); err != nil {
		return fmt.Errorf("%w: fetch packages: %w: %s", errMissing, err, lastLine(out))
	}
	return nil
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
