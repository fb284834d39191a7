// Package vm runs test programs in a small emulated machine with another layout of
// control groups than this host's: cgroup v2, as root, as a user with a delegated group
// and as in a container; and v1 and v2 mounted side by side. The tests of maxprocs and
// doctor run there with available programs of this host (a shell, strace, node, nginx)
// and prebuilt Go programs. The machine is emulated (qemu without hardware support), so
// its timings are meaningless.
//
// qemu and a kernel come from packages of this host's Debian or Ubuntu. They are unpacked
// into the user's cache folder and not installed.
package vm
