package vm

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// archive writes an initramfs: cpio in the format newc.
// Linux Documentation/driver-api/early-userspace/buffer-format.rst.
type archive struct {
	bytes.Buffer
	entries int
	folders map[string]bool
}

// Types of files, as in stat(2).
const (
	typeFolder = 0o040000
	typeFile   = 0o100000
	typeDevice = 0o020000
)

// file adds an executable file and the folders above it.
func (a *archive) file(name string, content []byte) {
	a.folder(path.Dir(name))
	a.entry(name, typeFile|0o755, 0, 0, content)
}

// tools adds programs of the host to /tools, with their libraries. It returns the reasons
// why some are not added.
func (a *archive) tools(names ...string) map[string]error {
	missing := map[string]error{}
	files := map[string]string{}
	for _, name := range names {
		program, err := exec.LookPath(name)
		if err != nil {
			missing[name] = err
			continue
		}
		files["tools/"+name] = program
		libraries, err := exec.Command("ldd", program).Output() // fails if there are none
		if err != nil {
			continue
		}
		for word := range strings.FieldsSeq(string(libraries)) {
			if strings.HasPrefix(word, "/") {
				files[word[1:]] = word
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content, err := os.ReadFile(files[name])
		if err != nil {
			missing[path.Base(name)] = err
			continue
		}
		a.file(name, content)
	}
	return missing
}

// folder adds a folder and those above it.
func (a *archive) folder(name string) {
	if name == "." || a.folders[name] {
		return
	}
	a.folder(path.Dir(name))
	if a.folders == nil {
		a.folders = map[string]bool{}
	}
	a.folders[name] = true
	a.entry(name, typeFolder|0o755, 0, 0, nil)
}

// close adds the console, which process 1 needs for its output, and the end.
func (a *archive) close() []byte {
	a.folder("dev")
	a.entry("dev/console", typeDevice|0o600, 5, 1, nil)
	a.entry("TRAILER!!!", 0, 0, 0, nil)
	return a.Bytes()
}

// entry adds a header, a name and a content, each padded to four bytes.
func (a *archive) entry(name string, mode, major, minor int, content []byte) {
	a.entries++
	fields := []int{
		a.entries, mode, 0, 0, 1, 0, len(content), // inode, mode, uid, gid, links, time, size
		0, 0, major, minor, len(name) + 1, 0, // its device, the device that it is, name's size, checksum
	}
	a.WriteString("070701")
	for _, field := range fields {
		fmt.Fprintf(a, "%08x", field)
	}
	a.WriteString(name + "\x00")
	a.pad()
	a.Write(content)
	a.pad()
}

func (a *archive) pad() {
	for a.Len()%4 != 0 {
		a.WriteByte(0)
	}
}
