// Package vm runs test programs in a small emulated machine with another layout
// of control groups than this host's: cgroup v2, as root, as a user with a
// delegated group and as in a container; and v1 and v2 mounted side by side.
// The tests of maxprocs and doctor run there with programs of this host (a shell,
// strace, node, nginx, as far as it has them) and Go programs built beforehand.
// It emulates (qemu without hardware's help), so timings inside mean nothing.
//
// qemu and a kernel come as packages of this host's Debian or Ubuntu. They are
// unpacked into the user's cache folder, never installed.
package vm
