package procfiles

import (
	"io/fs"
	"syscall"
)

// usual is as much as most files of /proc/PID have.
const usual = 2 << 10

// readFile reads at most so many bytes of a file of /proc. It makes no system call but open,
// read and close: an os.File makes five more, and a scan reads thousands of files.
func readFile(name string, most int64) ([]byte, error) {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	for err == syscall.EINTR {
		fd, err = syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer syscall.Close(fd)
	text := make([]byte, 0, usual)
	for int64(len(text)) < most {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := syscall.Read(fd, text[len(text):min(int64(cap(text)), most)])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return text, &fs.PathError{Op: "read", Path: name, Err: err}
		case n == 0:
			return text, nil
		}
		text = text[:len(text)+n]
	}
	return text, nil
}
