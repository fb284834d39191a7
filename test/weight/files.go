package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// ceilingsFile has the bounds of single packages.
const ceilingsFile = "test/weight/ceilings.txt"

// files has the contents of tracked files by their paths. Only Go and Markdown files
// and the ceilings are in it.
type files map[string][]byte

// counted reports whether a file is one of those.
func counted(path string) bool {
	return strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".md") || path == ceilingsFile
}

// tracked reads the files of the working tree, with new ones that git does not ignore.
func tracked() (files, error) {
	list, err := git(nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	all := files{}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if !counted(path) {
			continue
		}
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) { // deleted, and not committed yet
			continue
		}
		if err != nil {
			return nil, err
		}
		all[path] = text
	}
	return all, nil
}

// committed reads the files of a commit.
func committed(commit string) (files, error) {
	list, err := git(nil, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return nil, err
	}
	var paths []string
	var ask bytes.Buffer
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		mode, path, _ := strings.Cut(entry, "\t") // "100644 blob 0123…"
		if fields := strings.Fields(mode); counted(path) && len(fields) == 3 && fields[1] == "blob" {
			paths = append(paths, path)
			fmt.Fprintln(&ask, fields[2])
		}
	}
	answers, err := git(&ask, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	all := files{}
	r := bufio.NewReader(bytes.NewReader(answers))
	for _, path := range paths {
		var hash, kind string
		var size int
		if _, err := fmt.Fscanf(r, "%s %s %d\n", &hash, &kind, &size); err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", path, commit, err)
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", path, commit, err)
		}
		if _, err := r.Discard(1); err != nil { // the line break behind each file
			return nil, err
		}
		all[path] = text
	}
	return all, nil
}

func git(input io.Reader, arguments ...string) ([]byte, error) {
	cmd := exec.Command("git", arguments...)
	cmd.Stdin, cmd.Stderr = input, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", strings.Join(arguments, " "), err)
	}
	return out, nil
}
