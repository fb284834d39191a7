package doctor_test

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/paragraphs"
	"github.com/millicore/millicore/internal/show/diagnosis"
	"github.com/millicore/millicore/test/testkit"
)

// mapFile maps a file into this process. It stays mapped.
func mapFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = syscall.Mmap(int(file.Fd()), 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_PRIVATE)
	return err
}

// attacker is the user of the hostile processes.
const attacker = 12345

// secret is what a file has that the attacker may not read. It looks like the file of a JVM.
const secret = "JAVA_VERSION=\"SECRET\"\n"

// hostile starts a process of another user. The program is this one, in a folder of that
// user, changed by prepare. It maps a file that is named like the library of a JVM if
// prepare makes one.
func hostile(t *testing.T, prepare func(folder, program string)) int {
	t.Helper()
	folder, err := os.MkdirTemp("", "hostile") // TempDir is in a folder that only root may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	program := filepath.Join(folder, "service")
	copyFile(t, "/proc/self/exe", program)
	library := filepath.Join(folder, "lib/server/libjvm.so")
	for _, err := range []error{os.Chmod(folder, 0o755), os.MkdirAll(filepath.Dir(library), 0o755), os.WriteFile(library, make([]byte, 4096), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	prepare(folder, program)
	cmd := exec.Command(program)
	cmd.Dir, cmd.Env = "/", []string{mapped + "=" + library}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: attacker, Gid: attacker}}
	testkit.StartReady(t, cmd, "ready")
	return cmd.Process.Pid
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}

// addSymbols gives an executable a table of symbols of 20 GiB, of which no byte is on the
// disk. The kernel does not read sections, so that it still runs.
func addSymbols(t *testing.T, program string) {
	t.Helper()
	file, err := os.OpenFile(program, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var head elf.Header64
	if err := binary.Read(file, binary.NativeEndian, &head); err != nil {
		t.Fatal(err)
	}
	sections := make([]elf.Section64, head.Shnum)
	if err := binary.Read(io.NewSectionReader(file, int64(head.Shoff), 1<<20), binary.NativeEndian, sections); err != nil {
		t.Fatal(err)
	}
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sections { // an existing table is hidden
		if elf.SectionType(sections[i].Type) == elf.SHT_SYMTAB {
			sections[i].Type = uint32(elf.SHT_PROGBITS)
		}
	}
	const size = 20 << 30
	sections = append(sections, elf.Section64{Type: uint32(elf.SHT_SYMTAB), Off: uint64(end), Size: size, Link: uint32(head.Shstrndx), Entsize: 24})
	head.Shoff, head.Shnum = uint64(end), head.Shnum+1
	for _, err := range []error{
		binary.Write(io.NewOffsetWriter(file, end), binary.NativeEndian, sections),
		binary.Write(io.NewOffsetWriter(file, 0), binary.NativeEndian, head),
		file.Truncate(end + size + int64(len(sections))*int64(unsafe.Sizeof(sections[0]))),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Hostile processes of another user cost one line each. Root's scan ends, sees the other
// processes, and reads no file for a user that this user may not read.
func TestHostileProcesses(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, whose rights the processes want to use")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	hidden := filepath.Join(t.TempDir(), "hidden")
	must(os.WriteFile(hidden, []byte(secret), 0o600))
	want := map[int]string{
		hostile(t, func(folder, _ string) { must(unix.Mkfifo(filepath.Join(folder, "release"), 0o666)) }):        "/release is a named pipe, not a regular file.",
		hostile(t, func(folder, _ string) { must(os.Symlink("/etc/shadow", filepath.Join(folder, "release"))) }): "its user may not read ",
		hostile(t, func(folder, _ string) { must(os.Symlink(hidden, filepath.Join(folder, "lib/release"))) }):    "its user may not read ",
		hostile(t, func(folder, _ string) { must(os.Symlink("/dev/zero", filepath.Join(folder, "release"))) }):   "/release is a device, not a regular file.",
		hostile(t, func(_, program string) { addSymbols(t, program) }):                                           "its executable has 20 GiB of symbols, more than 64 MiB.",
		hostile(t, func(folder, _ string) {
			must(os.WriteFile(filepath.Join(folder, "release"), make([]byte, 1<<17), 0o644))
		}): "/release has more than 65536 bytes.",
	}
	var host inspect.Host
	ended := make(chan error, 1)
	go func() {
		var err error
		host, err = inspect.New("").Scan(context.Background(), inspect.Only{}, 0)
		ended <- err
	}()
	select {
	case err := <-ended:
		must(err)
	case <-time.After(time.Minute): // it takes less than a second
		t.Fatal("the scan does not end")
	}
	var text, asJSON strings.Builder
	must(paragraphs.Write(&text, host, doctor.Examine(host), display.Terminal{}))
	must(diagnosis.JSON(&asJSON, host, doctor.Examine(host), diagnosis.View{}))
	self := false
	for _, p := range host.Processes {
		line := fmt.Sprintf("Could not inspect %d service: ", p.PID)
		reason, is := want[p.PID]
		self = self || p.PID == os.Getpid() && p.Refused == ""
		switch {
		case is && !strings.Contains(p.Refused+".", reason):
			t.Errorf("process %d: got %q, want %q", p.PID, p.Refused, reason)
		case is && strings.Count(text.String(), line) != 1:
			t.Errorf("process %d has not one line, but\n%s", p.PID, text.String())
		}
	}
	if !self {
		t.Error("another process was not inspected")
	}
	if strings.Contains(text.String()+asJSON.String(), "SECRET") {
		t.Error("the output has the content of a file that the process's user may not read")
	}
}
