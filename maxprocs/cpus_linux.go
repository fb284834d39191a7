package maxprocs

import (
	"math/bits"
	"syscall"
	"unsafe"
)

// affinity counts the CPUs that the process may run on: those of its main
// thread, since other threads may be pinned. It is 0 if that is not known.
//
// The kernel's answer leaves out CPUs that are offline or not in the cpuset, and
// is as many bytes long as the call returns. man 2 sched_getaffinity, "C
// library/kernel differences".
func affinity() int {
	var mask [128]uint64 // 8,192 CPUs, the most that a kernel can be built for
	n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY,
		uintptr(syscall.Getpid()), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	if errno != 0 || n > unsafe.Sizeof(mask) {
		return 0
	}
	count := 0
	for _, word := range mask[:(n+7)/8] {
		count += bits.OnesCount64(word)
	}
	return count
}
