package vm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// kernels are the packages that depend on the newest kernel of their kind, the small ones
// for virtual machines first.
var kernels = []string{"linux-image-cloud-amd64", "linux-image-virtual", "linux-image-amd64"}

// errMissing is in the errors if this host cannot boot the machine.
var errMissing = errors.New("cannot boot a virtual machine here")

// prepare makes sure that qemu and a kernel are in the cache folder, or finds an installed
// qemu. If this host's package lists are outdated, it fetches its own lists, which needs
// no permissions.
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
	m, err := apt{}.machine(cache)
	if err == nil {
		return m, nil
	}
	own, listsErr := ownLists(cache)
	if listsErr != nil {
		return machine{}, fmt.Errorf("%w: %w; %w", errMissing, err, listsErr)
	}
	if m, err = own.machine(cache); err != nil {
		return machine{}, fmt.Errorf("%w: %w", errMissing, err)
	}
	return m, nil
}

// apt holds the first options for calling apt.
type apt []string

func (a apt) run(dir, program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, append(append([]string{}, a...), args...)...)
	cmd.Dir = dir
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(problems.String()), "\n")
		err = fmt.Errorf("%s %s: %w: %s", program, strings.Join(args[:1], " "), err, lines[len(lines)-1])
	}
	return out, err
}

// ownLists fetches lists of packages into the cache.
func ownLists(cache string) (apt, error) {
	var own apt
	for option, folder := range map[string]string{"Dir::State::lists": "lists", "Dir::Cache": "cache"} {
		dir := filepath.Join(cache, "apt", folder)
		if err := os.MkdirAll(filepath.Join(dir, "partial"), 0o755); err != nil {
			return nil, err
		}
		own = append(own, "--option="+option+"="+dir)
	}
	_, err := own.run("", "apt-get", "update")
	return own, err
}

func (a apt) machine(cache string) (machine, error) {
	var m machine
	var err error
	if m.kernel, err = a.kernel(cache); err != nil {
		return machine{}, err
	}
	if m.qemu, err = exec.LookPath("qemu-system-x86_64"); err == nil {
		return m, nil
	}
	root, err := a.qemu(cache)
	if err != nil {
		return machine{}, err
	}
	m.qemu = filepath.Join(root, "usr/bin/qemu-system-x86_64")
	m.data = []string{filepath.Join(root, "usr/share/qemu"), filepath.Join(root, "usr/share/seabios")}
	m.library = filepath.Join(root, "usr/lib/x86_64-linux-gnu") + ":" + filepath.Join(root, "lib/x86_64-linux-gnu")
	return m, nil
}

// kernel returns the unpacked kernel of any version, and fetches the newest if there is
// none.
func (a apt) kernel(cache string) (string, error) {
	pattern := filepath.Join(cache, "kernel", "boot", "vmlinuz-*")
	if found, _ := filepath.Glob(pattern); len(found) > 0 {
		return found[0], nil
	}
	var errs []error
	for _, meta := range kernels {
		packages, err := a.dependencies(meta)
		if err == nil {
			_, err = a.unpacked(cache, "kernel", packages)
		}
		if found, _ := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0], nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("no kernel: %w", errors.Join(errs...))
}

// dependencies returns the newest kernel package that a package depends on.
func (a apt) dependencies(meta string) ([]string, error) {
	out, err := a.run("", "apt-cache", "show", "--no-all-versions", meta)
	if err != nil {
		return nil, err
	}
	for word := range strings.FieldsSeq(string(out)) {
		if name := strings.TrimRight(word, ","); strings.HasPrefix(name, "linux-image-") && name != meta {
			return []string{name}, nil
		}
	}
	return nil, fmt.Errorf("%s depends on no kernel", meta)
}

// qemu returns the folder with qemu and the libraries that are missing on this host.
func (a apt) qemu(cache string) (string, error) {
	out, err := a.run("", "apt-get", "install", "--simulate", "--no-install-recommends", "qemu-system-x86")
	if err != nil {
		return "", err
	}
	var packages []string
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "Inst "); ok {
			name, _, _ := strings.Cut(rest, " ")
			packages = append(packages, name)
		}
	}
	return a.unpacked(cache, "qemu", packages)
}

// unpacked fetches packages and unpacks them into a folder of the cache, if that was not
// done before.
func (a apt) unpacked(cache, name string, packages []string) (string, error) {
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
	if _, err := a.run(fetched, "apt-get", append([]string{"download"}, packages...)...); err != nil {
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
	// It gets its name only when it is complete.
	if err := os.RemoveAll(root); err != nil {
		return "", err
	}
	return root, os.Rename(into, root)
}
