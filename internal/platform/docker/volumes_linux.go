package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/data/experiment"
)

// checkVolumes reports mounts whose source does not exist. Docker would make it, and it
// would stay.
func (d *docker) checkVolumes(volumes []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	var errs []error
	for _, text := range volumes {
		v, err := experiment.SplitVolume(text)
		switch {
		case err != nil || v.Source == "":
		case v.HasPath():
			if _, err = os.Stat(v.Source); errors.Is(err, fs.ErrNotExist) {
				err = errors.New("no such file or folder on this machine; make it first")
			}
		default:
			if _, err = d.api.VolumeInspect(ctx, v.Source, client.VolumeInspectOptions{}); errdefs.IsNotFound(err) {
				err = fmt.Errorf("Docker has no volume %s; make it (docker volume create %s), or write ./%s for a folder", v.Source, v.Source, v.Source)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("volume %s: %w", text, err))
		}
	}
	return errors.Join(errs...)
}

// mounts are volumes as Docker has them: those with a source, and the targets of the others,
// which the daemon makes for the container and removes with it.
func mounts(volumes []string) (binds []string, anonymous map[string]struct{}, err error) {
	for _, text := range volumes {
		v, err := experiment.SplitVolume(text)
		if err != nil {
			return nil, nil, err
		}
		if v.Source == "" {
			if anonymous == nil {
				anonymous = map[string]struct{}{}
			}
			anonymous[v.Target] = struct{}{}
			continue
		}
		if v.HasPath() {
			if v.Source, err = filepath.Abs(v.Source); err != nil {
				return nil, nil, err
			}
		}
		binds = append(binds, v.String())
	}
	return binds, anonymous, nil
}
