package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Program returns the file that a unit of this platform would start for a command: name
// is its first word, dir the unit's folder, env and unset its variables. The error names
// what is missing.
func Program(name, dir string, env map[string]string, unset []string) (string, error) {
	base, _ := inherited(os.Environ())
	return findProgram(name, dir, lookup(environment(base, "", env, unset), "PATH"))
}

// findProgram returns the file of a command. A name with a slash is relative to the
// folder dir; another name is searched in path, a list as in PATH. The error has the
// folders.
func findProgram(name, dir, path string) (string, error) {
	if name == "" {
		return "", errors.New("the command is empty")
	}
	if strings.ContainsRune(name, '/') {
		file := name
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		file, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		return file, executable(file)
	}
	var refused error
	for _, folder := range filepath.SplitList(path) {
		if folder == "" {
			folder = "."
		}
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		file := filepath.Join(folder, name)
		err := executable(file)
		if err == nil {
			return filepath.Abs(file)
		}
		if refused == nil && !errors.Is(err, fs.ErrNotExist) {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	here, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return "", err
	}
	return "", fmt.Errorf("command %q not found in PATH=%s; install it, or give its path (./%s is %s)", name, path, name, here)
}

// executable reports why a file cannot be run.
func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("command %s: %w", file, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("command: %w", err)
	case info.IsDir():
		return fmt.Errorf("command %s is a folder", file)
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("command %s: %w; it is not executable: chmod +x it", file, fs.ErrPermission)
	}
	return nil
}
