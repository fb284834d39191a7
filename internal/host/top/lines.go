package top

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
)

// Options are what to show and how.
type Options struct {
	Every  time.Duration // the interval between looks
	For    time.Duration // how long to run; 0: until ctx ends
	Order  Order
	Filter string
	Of     string // the container that the watcher follows; "": all
	Rows   int    // for Lines: the maximum number of services per look; 0: all
}

// looker reads the services. *inspect.Watcher implements it.
type looker interface {
	Look() ([]inspect.Seen, error)
	// Closely makes the looks read the memory and the threads of these groups too.
	Closely(dirs []string)
}

// Lines writes plain text until ctx ends: from the second look on a line for each
// service, with the time before it. If the time is too short for a second look, it
// makes one at the end.
func Lines(ctx context.Context, out io.Writer, watcher looker, o Options) error {
	if o.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.For)
		defer cancel()
	}
	ticker := time.NewTicker(o.Every)
	defer ticker.Stop()
	all := Services{}
	for look := 0; ; look++ {
		seen, err := watcher.Look()
		if err != nil {
			return err
		}
		all.Add(seen)
		watcher.Closely(dirs(all.shown(o)))
		if look > 0 {
			if err := writeLines(out, all, o, look == 1, time.Now()); err != nil {
				return err
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			if look > 0 || o.For == 0 {
				return nil
			}
			o.For = 0 // this is the second look
		}
	}
}

// writeLines writes the result of one look.
func writeLines(out io.Writer, all Services, o Options, first bool, now time.Time) error {
	const clock = "15:04:05"
	width := display.TerminalOf(out).Width
	if width > 0 {
		width = max(1, width-len(clock)-gap)
	}
	plain := fitted(width, usual, lineDrops)
	if first {
		if _, err := fmt.Fprintf(out, "%-*s  %s\n", len(clock), "TIME", plain.head(unsorted)); err != nil {
			return err
		}
	}
	sorted := all.shown(o)
	if len(sorted) == 0 {
		_, err := fmt.Fprintf(out, "%s  %s\n", now.Format(clock), nothing(o, len(all)))
		return err
	}
	for _, s := range sorted {
		if _, err := fmt.Fprintf(out, "%s  %s\n", now.Format(clock), plain.row(s, nil)); err != nil {
			return err
		}
	}
	return nil
}

// shown are the services that lines are about.
func (all Services) shown(o Options) []*Service {
	sorted := all.Sorted(o.Order, o.Filter)
	if o.Rows > 0 && len(sorted) > o.Rows {
		sorted = sorted[:o.Rows]
	}
	return sorted
}

func dirs(all []*Service) (list []string) {
	for _, s := range all {
		list = append(list, s.Dir)
	}
	return list
}

// nothing describes why no service is shown, of the given number of services.
func nothing(o Options, services int) string {
	switch {
	case services > 0:
		return fmt.Sprintf("no service under a CPU limit matches %q", o.Filter)
	case o.Of != "":
		return fmt.Sprintf("no process under a CPU limit is in a container %q", o.Of)
	}
	return "no process here is under a CPU limit"
}
