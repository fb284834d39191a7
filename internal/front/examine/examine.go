// Package examine is the front end of `millicore doctor`: it scans the host, or the nodes of a
// cluster, and prints what package doctor finds in the form that the user chose.
package examine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/kubernetes/fleet"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/show/diagnosis"
)

// Options are what the user asks for.
type Options struct {
	Only    inspect.Only
	Watch   time.Duration
	Version string // of this program
	// LevelName is the level from which on a finding is a failure, and Level what Read made of it.
	LevelName string
	Level     doctor.Level
	// Cluster is where the pods of the DaemonSet are; nil: this host is scanned.
	Cluster *kube.Client

	JSON, Details bool
	Patch         string // the folder of patches; "": none
	// Baseline is a file of --json of an earlier run, and Suppress one of suppressions; "":
	// none.
	Baseline, Suppress string

	baseline     *diagnosis.Baseline
	suppressions *suppressions
}

// Read reads the files that the options name, and the level. An error is one of the user.
func (o *Options) Read() (err error) {
	if o.Level, err = doctor.ParseLevel(o.LevelName); err != nil {
		return fmt.Errorf("--level %s: %w", o.LevelName, err)
	}
	if o.Watch < 0 {
		return fmt.Errorf("--for %s: want 0 or more", span.Text(o.Watch))
	}
	parsed := func(file string, parse func([]byte) error) error {
		if file == "" {
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := parse(data); err != nil {
			return fmt.Errorf("%s:%w", file, err)
		}
		return nil
	}
	err = parsed(o.Suppress, func(data []byte) error {
		all, err := parseSuppressions(data)
		o.suppressions = &suppressions{file: o.Suppress, all: all, now: time.Now()}
		return err
	})
	if err != nil {
		return err
	}
	err = parsed(o.Baseline, func(data []byte) (err error) {
		o.baseline, err = diagnosis.ReadBaseline(data)
		return err
	})
	if err == nil && o.baseline != nil && o.baseline.Watch > 0 && o.Watch == 0 {
		err = fmt.Errorf("%s: its counters were watched for %.0f s, and --for 0 watches nothing", o.Baseline, o.baseline.Watch)
	}
	return err
}

// Run scans the host and prints the findings. The error is exit.NotMet if there is a finding
// at the level or above, which with a baseline is new or worse, or if a process could not be
// read. It wraps inspect.ErrNone if nothing matches what is to be inspected.
func (o *Options) Run(ctx context.Context, out io.Writer) error {
	if o.Watch > 0 && !progress.IsQuiet() && term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "watching for %s (--for 0: no watch, and no findings about throttling)…\n", span.Text(o.Watch))
	}
	view := diagnosis.View{Details: o.Details, Run: diagnosis.Run{Time: time.Now(), Version: o.Version}}
	host, all, err := o.scan(ctx, &view)
	if err != nil {
		return err
	}
	findings, notes := o.suppressions.apply(all)
	view.Suppressed, view.Notes = len(all)-len(findings), notes
	failing := findings
	if o.baseline != nil {
		view.Since = o.baseline.Compare(host, findings, min(o.Level, doctor.Warning), o.kept)
		failing = view.Since.Found
	}
	if err := o.print(out, host, findings, view); err != nil {
		return err
	}
	return verdict(diagnosis.Unread(host)+view.Fleet.Unread(), failing, o.Level)
}

// scan scans the host or the cluster, and adds to the view which one it was.
func (o *Options) scan(ctx context.Context, view *diagnosis.View) (inspect.Host, []doctor.Finding, error) {
	if o.Cluster == nil {
		view.Run.Host, _ = os.Hostname() // "" if it is not known
		host, err := inspect.New("").Scan(ctx, o.Only, o.Watch)
		return host, doctor.Examine(host), err
	}
	nodes, err := fleet.Collect(ctx, o.Cluster, o.Version, o.Watch)
	if errors.Is(err, fleet.ErrNoPods) {
		err = fmt.Errorf("%w: create it with `millicore doctor --manifest | kubectl apply -f -`, or name its namespace with --namespace", err)
	}
	if err != nil {
		return inspect.Host{}, nil, err
	}
	view.Run.Host, view.Fleet = o.Cluster.Server, &diagnosis.Fleet{Nodes: nodes}
	host, all := fleet.Merge(nodes)
	return host, all, nil
}

// verdict is the error of a complete run. Processes and nodes that could not be read may hide a
// finding, and must not look as if they had none.
func verdict(unread int, findings []doctor.Finding, level doctor.Level) error {
	switch {
	case doctor.AtLeast(findings, level):
		return exit.NotMet(exit.Missed)
	case unread > 0:
		return exit.NotMet(exit.Undecided)
	}
	return nil
}

// kept reports whether an earlier finding is not suppressed now.
func (o *Options) kept(p diagnosis.Past) bool {
	return o.suppressions == nil || !o.suppressions.covers(p.Fingerprint, p.Rule, p.Service, p.Name)
}

func (o *Options) print(out io.Writer, host inspect.Host, findings []doctor.Finding, view diagnosis.View) error {
	switch {
	case o.JSON:
		return diagnosis.JSON(out, host, findings, view)
	case o.Patch != "":
		return o.patch(out, view.Fleet.Worst(findings))
	}
	return diagnosis.Write(out, host, findings, view, display.TerminalOf(os.Stdout))
}

// patch writes the files of patches, and prints the commands that use them.
func (o *Options) patch(out io.Writer, findings []doctor.Finding) error {
	script, files := diagnosis.Patches(findings, o.Patch)
	if len(files) > 0 {
		if err := safefile.MkdirAll(o.Patch, 0o755); err != nil {
			return err
		}
	}
	for path, text := range files {
		if err := safefile.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, script)
	return err
}
