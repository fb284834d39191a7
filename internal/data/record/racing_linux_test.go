package record

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/testkit/racing"
)

// A record may be in a folder of another user, who replaces names in it by links.
func TestLinksBesideARecord(t *testing.T) {
	run := Run{Version: Version, Experiment: &experiment.Experiment{Name: "x"}, Started: time.Now()}
	round := 0
	for name, work := range map[string]func(path string) error{
		"a new record": func(path string) error {
			round++
			w, err := Create(filepath.Join(filepath.Dir(path), fmt.Sprintf("new-%d", round)), run)
			if err != nil {
				return err
			}
			return errors.Join(w.Finish(time.Now()), w.Close())
		},
		"a log of latencies": func(path string) error {
			return ReplaceHlog(path, run.Experiment, run.Started, func(*Hlog) error { return nil })
		},
		"a file that grows": func(path string) error {
			l, err := appendLines(path)
			if err != nil {
				return err
			}
			return errors.Join(l.append("x"), l.sync(), l.file.Close())
		},
	} {
		t.Run(name, func(t *testing.T) { racing.Links(t, work) })
	}
}
