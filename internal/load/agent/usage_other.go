//go:build !linux

package agent

import "github.com/millicore/millicore/internal/data/signals"

// The agent makes traffic on Linux only; here there is nothing to measure.

type usage struct{}

func startUsage() *usage { return &usage{} }

func (*usage) since(*signals.Client) {}

func (*usage) close() {}

func peakRSS() int64 { return 0 }
