package lab

import (
	"context"
	"maps"

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
	database.Versions(ctx, l.Experiment, versions)
}
