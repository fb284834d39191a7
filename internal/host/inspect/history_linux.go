package inspect

import "golang.org/x/sys/unix"

// kernelLog reads the records of the kernel's log that exist now; nil if it may not be
// read. A read returns one record, and EAGAIN after the last one.
func kernelLog(name string) (text []byte) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	record := make([]byte, 8<<10) // the longest record
	for len(text) < 16<<20 {
		n, err := unix.Read(fd, record)
		switch {
		case err == unix.EPIPE || err == unix.EINTR: // the record was overwritten
		case err != nil || n <= 0:
			return text
		default:
			text = append(text, record[:n]...)
		}
	}
	return text
}
