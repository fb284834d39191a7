package try

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/shellwords"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// The services of --against, which are also their labels.
const (
	newService = "new"
	oldService = "old"
)

// againstTrials are the trials of the old server and of the new one at the common load, with the
// default of the searches. With eight, a difference of a few standard deviations holds beside the
// tests of other figures.
const againstTrials = 8

// leastSearches of each server can show a breaking point that differs. The smallest P of four
// against four, 0.029, is not significant as one of five tests; that of five, 0.008, is.
const leastSearches = 5

// HoldAgainst makes the server that is asked for the new one, which is held against the one of a
// command line, or of an image with its arguments where an image is tried; "": there is none. It
// needs the limits and the repeats, of which it sets the default.
func (a *Ask) HoldAgainst(line string) (err error) {
	switch {
	case line == "":
		return nil
	case len(a.CPUs) > 1:
		return errors.New("--against holds two servers against each other under one limit: give --cpu one")
	case a.AsIsOnly:
		return errors.New("--against holds two servers against each other as they are: leave out --as-is")
	case a.Repeats > 0 && a.Repeats < leastSearches:
		return fmt.Errorf("--repeats %d: --against needs at least %d searches of each server to show a difference", a.Repeats, leastSearches)
	}
	a.Repeats = cmp.Or(a.Repeats, summary.EnoughTrials)
	if a.Against, err = shellwords.Split(line); err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	if a.Image != nil {
		a.Old = &Image{Name: a.Against[0], Args: a.Against[1:], Volumes: a.Image.Volumes, HostNetwork: a.Image.HostNetwork}
	}
	return nil
}

// oldAndNew are the server before a change and after it, the new one first.
func oldAndNew(a *Ask) []Variant {
	old := Variant{Service: oldService, Label: oldService, Limits: limitWords(a)}
	if a.Old == nil {
		old.Command = a.Against
	}
	return []Variant{{Service: newService, Label: newService, Limits: limitWords(a)}, old}
}

// changed are the new server and the old one, of which each was started once, and the new one
// with the parallelism of the old where its runtime chose another and has a setting.
func changed(a *Ask, seen []Seen) []Variant {
	all := oldAndNew(a)
	for i := range all {
		info := &seen[i].Info
		all[i].Reason, all[i].Found = seenAs(info), info.Parallelism.Value
	}
	now, before := all[0].Found, all[1].Found
	if now == 0 || before == 0 || now == before {
		return all
	}
	s, ok := runtimes.SettingOf(seen[0].Info, before, a.Command)
	if !ok || !a.canSet(s) {
		return all
	}
	return append(all, Variant{Service: newService + "-" + serviceName(s.Label), Label: newService + ", " + s.Label, Limits: limitWords(a),
		Command: s.Command, Env: s.Env, Value: before, Reason: fmt.Sprintf("the parallelism of the old one; its own is %d", now)})
}

// seenAs describes a server that has run once: "Go 1.26.8, parallelism 2 (read)".
func seenAs(info *runtimes.Info) string {
	if info.Runtime == runtimes.Unknown || info.Runtime == "" {
		return "no known runtime"
	}
	text := onServer(*info)
	if p := info.Parallelism; p.Value > 0 {
		text += fmt.Sprintf(", parallelism %d (%s)", p.Value, p.Source)
	}
	return text
}

// starting is what is asked of the server that a variant starts: its command or its image.
func (a *Ask) starting(v *Variant) *Ask {
	one := *a
	if one.Command = v.command(a); a.Old != nil && v.Service == oldService {
		one.Image, one.Command = a.Old, a.Against
	}
	return &one
}
