package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/front/dryrun"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/platform/local"
)

// dryRun prints what would run, and the checks of what it needs. It is an error if
// something is missing.
func dryRun(cmd *cobra.Command, plan dryrun.Plan, asJSON bool) error {
	out := cmd.OutOrStdout()
	write := func() error { return plan.Text(out, display.TerminalOf(out)) }
	if asJSON {
		write = func() error { return plan.JSON(out) }
	}
	if err := write(); err != nil {
		return err
	}
	if plan.Requirements.Err() != nil {
		return usageError{errors.New("the run lacks something that it needs; nothing was started")}
	}
	return nil
}

// dryRunHere is the dry run of a platform of this machine: its own checks, those of the
// programs and files, and what is implausible.
func dryRunHere(cmd *cobra.Command, on string, e *experiment.Experiment, show *progress.Printer, asJSON bool) error {
	where, err := open(on, e, show, true)
	if err != nil {
		return err
	}
	defer closePlatform(where, show)
	programs, err := lab.FindPrograms()
	if err != nil {
		return err
	}
	if err := errors.Join(lab.Check(e), where.Check(e)); err != nil {
		return usageError{err}
	}
	needs := doubtful(on, e)
	if on == "local" {
		needs = append(needs, programsOf(e, programs)...)
	}
	return dryRun(cmd, dryrun.Plan{Experiment: e, Requirements: needs, Lasts: lab.Estimate(e)}, asJSON)
}

// doubtful are the doubts about an experiment as requirements.
func doubtful(on string, e *experiment.Experiment) launch.Requirements {
	var needs launch.Requirements
	for _, d := range doubts(on, e) {
		state := launch.Noted
		if d.Wrong {
			state = launch.Missing
		}
		needs = append(needs, launch.Requirement{What: d.Path, State: state, Words: d.Text})
	}
	return needs
}

// doubts are what is implausible on a platform. The CPUs of a cluster are not known.
func doubts(on string, e *experiment.Experiment) []experiment.Doubt {
	cpus := runtime.NumCPU()
	if on == onKubernetes {
		cpus = 0
	}
	return e.Doubts(cpus)
}

// noteDoubts prints what is implausible in an experiment. The error has what cannot have
// been meant.
func noteDoubts(on string, e *experiment.Experiment, show *progress.Printer) error {
	var errs []error
	for _, d := range doubts(on, e) {
		if d.Wrong {
			errs = append(errs, errors.New(d.String()))
			continue
		}
		show.Note("! " + d.String())
	}
	return errors.Join(errs...)
}

// programsOf checks the programs, the folders and the files of an experiment's commands,
// each once.
func programsOf(e *experiment.Experiment, own lab.Programs) launch.Requirements {
	var all launch.Requirements
	add := func(one launch.Requirement) {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	for i := range e.Cells {
		s := &e.Cells[i].Service
		if s.Workload == "go" || s.Workload == "semaphore" {
			_, err := own.Path("millicore-" + s.Workload)
			add(found(s.Name, "millicore-"+s.Workload, "", err))
		}
		for _, one := range checkCommand(s.Name, s.Command, s.Dir, s.Env, s.Unset) {
			add(one)
		}
		for _, d := range s.Dependencies {
			for _, one := range checkCommand(s.Name+"."+d.Name, d.Command, d.Dir, d.Env, d.Unset) {
				add(one)
			}
		}
	}
	return all
}

func found(name, command, path string, err error) launch.Requirement {
	if err != nil {
		return launch.Requirement{What: name, State: launch.Missing, Words: display.Problem(err)}
	}
	if path != "" && path != command {
		command += " (" + path + ")"
	}
	return launch.Requirement{What: name, State: launch.There, Words: command}
}

// checkCommand checks the program of a command, its folder, and arguments that look like
// files. Such an argument may be something else: it is noted, and does not fail.
func checkCommand(name string, command []string, dir string, env map[string]string, unset []string) launch.Requirements {
	if len(command) == 0 {
		return nil
	}
	if info, err := os.Stat(dir); dir != "" && (err != nil || !info.IsDir()) {
		return launch.Requirements{{What: name, State: launch.Missing, Words: fmt.Sprintf("the folder %s does not exist (dir)", dir)}}
	}
	path, err := local.Program(command[0], dir, env, unset)
	all := launch.Requirements{found(name, command[0], path, err)}
	for _, arg := range command[1:] {
		if file := fileIn(arg, dir); file != "" {
			if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
				all = append(all, launch.Requirement{What: name, State: launch.Noted, Words: fmt.Sprintf("the argument %s looks like a file, and %s does not exist", arg, file)})
			}
		}
	}
	return all
}

// scripts are the ends of names of files that interpreters run.
var scripts = []string{".py", ".js", ".mjs", ".cjs", ".ts", ".jar", ".rb", ".ru", ".php", ".sh", ".pl", ".lua", ".dll", ".war", ".conf"}

// fileIn is the file that an argument means if it looks like one; otherwise "".
func fileIn(arg, dir string) string {
	if strings.HasPrefix(arg, "-") || strings.Contains(arg, "${") || !slices.Contains(scripts, filepath.Ext(arg)) || strings.ContainsAny(arg, " :;=") {
		return ""
	}
	if filepath.IsAbs(arg) {
		return arg
	}
	return filepath.Join(dir, arg)
}
