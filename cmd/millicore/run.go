package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/platform/local"
	"github.com/millicore/millicore/internal/record"
)

func runCommand() *cobra.Command {
	var (
		on     string
		out    string
		sets   []string
		seed   uint64
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "run FILE|NAME",
		Short: "Run an experiment: a file, or one that ships",
		Example: "  millicore run quick\n" +
			"  millicore run my-service.yaml --set limits.cpu=250m --out runs/first",
		Args: exactly(1, "an experiment: a file, or a name from `millicore experiments`"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if on != "local" {
				return usageError{fmt.Errorf("--on %s: this version runs experiments on this machine only: --on local", on)}
			}
			e, err := readExperiment(args[0], sets)
			if err != nil {
				return usageError{err}
			}
			if !cmd.Flags().Changed("seed") {
				seed = rand.Uint64() >> 12 // exact as a JSON number everywhere
			}
			if out == "" {
				out = record.NewDir("runs", e.Name, time.Now())
			}
			return conduct(cmd, e, seed, out, asJSON)
		},
	}
	c.Flags().StringVar(&on, "on", "local", "where services run: local")
	c.Flags().StringVar(&out, "out", "", "folder for the record (default runs/NAME-TIME)")
	c.Flags().StringArrayVar(&sets, "set", nil, "change a field of the experiment, as in limits.cpu=250m (repeatable)")
	c.Flags().Uint64Var(&seed, "seed", 0, "of the order of trials and of arrivals (default: a random one, kept in the record)")
	c.Flags().BoolVar(&asJSON, "json", false, "print summary.json instead of the table")
	return c
}

func conduct(cmd *cobra.Command, e *experiment.Experiment, seed uint64, out string, asJSON bool) error {
	programs, err := lab.FindPrograms()
	if err != nil {
		return err
	}
	if err := record.Free(out); err != nil {
		return usageError{err}
	}
	show := newProgress(os.Stderr)
	where, err := local.New(local.Options{Note: show.note})
	if err != nil {
		return err
	}
	defer func() {
		if err := where.Close(); err != nil {
			show.note(fmt.Sprintf("millicore: %v; `millicore clean` removes what is left", err))
		}
	}()
	if err := where.Check(e); err != nil {
		return usageError{err}
	}
	l := &lab.Lab{Experiment: e, Platform: where, Programs: programs, Seed: seed, Dir: out, Version: version,
		Progress: show.progress, Log: show}
	runErr := l.Run(cmd.Context())
	show.end()
	if runErr == nil && cmd.Context().Err() != nil {
		runErr = errInterrupted
	}
	if _, err := os.Stat(filepath.Join(out, record.RunFile)); err != nil {
		return runErr
	}
	// Whatever happened, what was measured is shown; what broke comes first.
	told := tell(cmd, out, asJSON)
	if runErr != nil && errors.Is(told, errMissed) {
		told = nil
	}
	return errors.Join(runErr, told)
}

// readExperiment reads a file, or an experiment that ships. A name with a
// slash or an ending is always a file.
func readExperiment(name string, sets []string) (*experiment.Experiment, error) {
	data, err := os.ReadFile(name)
	switch {
	case err == nil:
		return experiment.Parse(name, data, sets)
	case !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(name, "/.\\"):
		return nil, fmt.Errorf("read the experiment: %w", err)
	}
	data, err = shipped(name)
	if err != nil {
		return nil, err
	}
	return experiment.Parse(name+".yaml", data, sets)
}
