package lab

import (
	"context"
	"maps"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/database"
)

// versions adds the versions of what the services run on to those of this machine's
// runtimes. Services in images use none of this machine's runtimes but Go, with which
// Millicore was built.
func (l *Lab) versions(ctx context.Context, versions map[string]string) {
	if l.stock != nil {
		maps.DeleteFunc(versions, func(name, _ string) bool { return name != "go" })
		maps.Copy(versions, l.stock.versions)
		return
	}
	maps.Copy(versions, l.samples.Versions)
	databaseVersions(ctx, l.Experiment, versions)
}

// databaseVersions adds the versions of the databases that the experiment starts.
func databaseVersions(ctx context.Context, e *experiment.Experiment, versions map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for i := range e.Cells {
		for _, d := range e.Cells[i].Service.Dependencies {
			if d.Builtin == "" || versions[d.Builtin] != "" {
				continue
			}
			if version := database.Version(ctx, d.Builtin); version != "" {
				versions[d.Builtin] = version
			}
		}
	}
}
