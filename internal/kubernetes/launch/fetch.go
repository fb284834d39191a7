package launch

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
)

// Bounds of a record from a cluster.
const (
	mostFiles = 100_000
	mostBytes = 64 << 30
)

// fetchTries is the number of attempts.
const fetchTries = 5

// ErrNoRecord reports that a run ended before it had a record.
var ErrNoRecord = errors.New("the run has no record")

// Fetch copies the record of a run from the conductor's pod, which Follow returned,
// into a folder, which must be free. After an error the folder does not exist.
func (f *Follower) Fetch(ctx context.Context, pod, dir string) error {
	if err := record.Free(dir); err != nil {
		return err
	}
	if err := f.know(ctx); err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := safefile.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("fetch the record: %w", err)
	}
	var err error
	for try := range fetchTries {
		if try > 0 {
			f.Note(fmt.Sprintf("fetch the record: %v; trying again", err))
			sleep(ctx, time.Duration(try)*2*f.every)
		}
		if err = f.fetch(ctx, pod, parent, dir); err == nil || ctx.Err() != nil || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || errors.Is(err, ErrNoRecord) || errors.As(err, new(*badRecord)) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("fetch the record of run %s: %w", f.Run, err)
	}
	return nil
}

// fetch does one attempt.
func (f *Follower) fetch(ctx context.Context, pod, parent, dir string) error {
	answer, err := f.ask(ctx, pod, "/record")
	if own := (*apierrors.StatusError)(nil); errors.As(err, &own) && apierrors.IsNotFound(err) && own.ErrStatus.Details == nil {
		return ErrNoRecord // in the conductor's words; the API server's, of a pod that is gone, name it
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return safefile.For(dir, func() error { return unpackAt(answer.Body, parent, dir) })
}

// unpackAt writes the files of a tar into a folder, which appears when all are there.
func unpackAt(from io.Reader, parent, dir string) error {
	temp, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+"-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) // it is not there when all went well
	if err := unpack(from, temp); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(temp, record.RunFile)); err != nil {
		return &badRecord{fmt.Errorf("there is no %s in it", record.RunFile)}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return err
	}
	return os.Rename(temp, dir)
}

// badRecord is the error for an answer that is not a record. A retry does not help.
type badRecord struct{ err error }

func (b *badRecord) Error() string { return b.err.Error() }
func (b *badRecord) Unwrap() error { return b.err }

// unpack writes the files of a tar below a folder, and never outside of it.
func unpack(from io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	in, left, whole := tar.NewReader(from), int64(mostBytes), false
	for files := 0; ; files++ {
		head, err := in.Next()
		switch {
		case err == io.EOF && whole:
			return record.HandOver(root)
		case err == io.EOF:
			return errors.New("read the record: it breaks off")
		case err != nil:
			return fmt.Errorf("read the record: %w", err)
		case head.Name == conductor.EndMark:
			whole = true
			continue
		case head.Typeflag == tar.TypeDir:
			continue // folders are made with their files
		case head.Typeflag != tar.TypeReg:
			return &badRecord{fmt.Errorf("%q in it is no file", head.Name)}
		case !filepath.IsLocal(head.Name) || filepath.Clean(head.Name) == ".":
			return &badRecord{fmt.Errorf("%q in it lies outside of it", head.Name)}
		case files >= mostFiles:
			return &badRecord{fmt.Errorf("it has more than %d files", mostFiles)}
		case head.Size > left:
			return &badRecord{fmt.Errorf("it has more than %d GiB", mostBytes>>30)}
		}
		left -= head.Size
		if err := unpackFile(in, root, filepath.Clean(head.Name)); err != nil {
			return err
		}
	}
}

func unpackFile(from io.Reader, root *os.Root, name string) (err error) {
	if err := root.MkdirAll(filepath.Dir(name), record.DirMode); err != nil {
		return &badRecord{err}
	}
	to, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, record.FileMode)
	if err != nil {
		return &badRecord{err}
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
