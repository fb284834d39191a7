package program

import (
	"path/filepath"
	"testing"
)

func TestAProfileHasItsOwnTrial(t *testing.T) {
	dir, said := profiled(t, profiledService(`
load: {request: {path: /isPrime/666666}, users: 4}
measure: {warmup: 500ms, duration: 2s, repeats: 1}`))
	if said.without {
		t.Fatalf("no profile was taken under a fixed load:\n%s", said.text)
	}
	profileStands(t, dir)
	profileCountsNowhere(t, dir)
}

func TestAProfileIsTakenAtTheBreakingPoint(t *testing.T) {
	hurry(t)
	dir, said := profiled(t, profiledService(`
load: {request: {path: /isPrime/666666}, rate: 60, find: breaking-point}
measure: {warmup: 500ms, duration: 14s}
objective: {p99: 100ms, availability: 99.9}`))
	profileIsAtTheBreakingPoint(t, dir, said)
}

func TestTryTakesAProfile(t *testing.T) {
	hurry(t)
	t.Setenv("PPROF", "1") // variables that are no settings of a runtime reach the server
	got := try(t, "--profile", "--as-is", "--cpu", "500m", "--traffic", "10s", "--get", "/isPrime/666666", "--",
		filepath.Join(bin, "millicore-go"), "--host", "127.0.0.1", "--port", "${port}")
	said := newSaid(got.said)
	profileIsAtTheBreakingPoint(t, got.Record, said)
	if len(got.Cells) != 1 || (got.Cells[0].Profile == nil) != said.without {
		t.Errorf("%d cells, want one with the profile of the message: %s", len(got.Cells), said.text)
	}
}
