package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/lab/wording"
)

// commonLoad conducts the second part of a run of searches: every cell at the load that
// verdict.CommonLoad takes from the first. It has a record of its own, in the folder
// of the first, with the same cells: each part holds one kind of trial. number is that of
// its first trial, so that no two trials of the run have the same.
func (l *Lab) commonLoad(ctx context.Context, number int) error {
	common := l.Experiment.CommonLoad()
	if common == nil || ctx.Err() != nil {
		return nil
	}
	found, err := results.Open(record.Own, l.Dir)
	if err != nil {
		return fmt.Errorf("find the common load: %w", err)
	}
	load, held, without := verdict.CommonLoad(found.Summary, common.Percent/100)
	if load == 0 {
		var names []string
		for _, i := range without {
			names = append(names, l.Experiment.LabelOf(&l.Experiment.Cells[i]))
		}
		l.note("no trials at a common load: no breaking point of %s", strings.Join(names, ", "))
		return nil
	}
	l.note("common load: %s", wording.CommonLoad(load, l.Experiment.Cells[0].Load.Users != nil, common.Percent, held))
	at := l.Experiment.At(load)
	if at.Objective != nil && at.Objective.Quantile != "" {
		needed := verdict.RequestsFor(at.Objective.Quantile)
		if longer := verdict.CommonDuration(at, load, needed); longer > at.Measure.Duration {
			at.Measure.Duration = longer
			l.note("each trial takes %s instead of %s, because %s needs %s requests", span.Text(longer), span.Text(common.Duration), at.Objective.Quantile, display.Grouped(needed))
		}
	}
	part := &Lab{Experiment: at, Platform: l.Platform, Programs: l.Programs, Seed: l.Seed,
		Dir: filepath.Join(l.Dir, record.CommonDir), Version: l.Version, Progress: l.Progress, OnFrame: l.OnFrame, Log: l.Log,
		NoRepeat: l.NoRepeat, NoHost: l.NoHost, Resume: l.Resume, first: number, data: l.data}
	return part.Run(ctx)
}

// commonTrials is the number of trials of the second part.
func (l *Lab) commonTrials() int {
	if common := l.Experiment.CommonLoad(); common != nil {
		return common.Repeats * len(l.Experiment.Cells)
	}
	return 0
}
