//go:build !linux

package given

import "os/exec"

func endWithUs(*exec.Cmd) {}

func alive(int) bool { return true }
