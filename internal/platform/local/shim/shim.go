// Package shim starts a process inside control groups: no instruction of it
// runs outside. The process is first this program again, which joins the
// groups and then becomes the command (exec). It makes no groups.
package shim

// Word is the argument by which a program knows that it was started as a shim.
const Word = "__run"
