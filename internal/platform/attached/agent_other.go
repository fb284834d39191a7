//go:build !linux

package attached

import "os/exec"

func endWithUs(*exec.Cmd) {}

func alive(int) bool { return true }
