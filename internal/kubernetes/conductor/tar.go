package conductor

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/record"
)

// writeWithin is how long a client may take to read one piece of a record.
const writeWithin = 60 * time.Second

// record sends the current record. If a file cannot be read, the answer breaks off,
// which the client detects.
func (h *Hub) record(w http.ResponseWriter, _ *http.Request) {
	if _, err := os.Stat(h.options.Record); err != nil {
		http.Error(w, "there is no record yet", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/x-tar")
	w.Header().Set("Cache-Control", "no-store")
	if err := writeTar(&patient{w: w, c: http.NewResponseController(w)}, h.options.Record); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// patient bounds how long each Write may take, not all of them together.
type patient struct {
	w io.Writer
	c *http.ResponseController
}

func (p *patient) Write(b []byte) (int, error) {
	if err := p.c.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.w.Write(b)
}

// EndMark is the name of the last, empty file in the tar of a record. It is not part
// of the record: it shows that the tar did not break off between two files.
const EndMark = ".end"

// writeTar writes the regular files of a folder, and of those in it, as a tar.
// Files may grow meanwhile: each is sent with the length that it had at its turn.
// Names that begin with a dot are files that are being written.
func writeTar(w io.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	out := tar.NewWriter(w)
	// The lists of trials come first: frames may be added while this is written, and a
	// trial that is done in the lists must have all of its frames.
	first := []string{record.RunFile, record.TrialsFile, path.Join(record.CommonDir, record.RunFile), path.Join(record.CommonDir, record.TrialsFile)}
	for _, name := range first {
		if err := addFile(out, root, name); err != nil {
			return err
		}
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone since the folder was read
			return nil
		case err != nil:
			return err
		case strings.HasPrefix(path.Base(name), ".") && name != ".":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular(), slices.Contains(first, name):
			return nil
		}
		return addFile(out, root, name)
	})
	if err == nil {
		err = out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: EndMark, Mode: int64(record.FileMode)})
	}
	return errors.Join(err, out.Close())
}

func addFile(out *tar.Writer, root *os.Root, name string) error {
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	head := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: int64(record.FileMode), ModTime: info.ModTime()}
	if err := out.WriteHeader(head); err != nil {
		return err
	}
	if _, err := io.CopyN(out, f, info.Size()); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}
