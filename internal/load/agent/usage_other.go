//go:build !linux

package agent

import "github.com/millicore/millicore/internal/signals"

// Other systems than Linux make no traffic, so nothing is used for it.

type usage struct{}

func startUsage() *usage { return &usage{} }

func (*usage) since(*signals.Client) {}

func (*usage) close() {}

func peakRSS() int64 { return 0 }
