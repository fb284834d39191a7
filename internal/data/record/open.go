package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// files are the regular files and the folders in the folder of a record. A name that
// leads out of the folder, also over a symbolic link, is an error, and so is a pipe, a
// socket or a device: opening it could block, or do something.
type files struct{ dir string }

// Open opens a file, or a folder for reading its names.
func (d files) Open(name string) (fs.File, error) {
	file, err := d.open(name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (d files) open(name string) (*os.File, error) {
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Stat before, because opening a device can do something. The file may be another one
	// afterwards, so that the opening does not block, and is checked again.
	info, err := root.Stat(name)
	if err == nil {
		err = ordinary(name, info)
	}
	if err != nil {
		return nil, err
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = ordinary(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// errIrregular reports that a part of a record is not a file.
var errIrregular = errors.New("it is a pipe, a socket or a device; the files of a record are regular files")

func ordinary(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	}
	return nil
}

// read reads a whole file.
func (d files) read(name string) ([]byte, error) {
	file, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// size is the size of all files that a record's results are computed from.
func (d files) size() (sum int64) {
	for _, name := range []string{RunFile, TrialsFile, FramesFile, WindowsFile, SlowFile, StepsFile, BenchmarksFile} {
		if info, err := fs.Stat(d, name); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
	}
	cells, _ := fs.ReadDir(d, ProfilesDir)
	for _, cell := range cells {
		profiles, _ := fs.ReadDir(d, path.Join(ProfilesDir, cell.Name()))
		for _, one := range profiles {
			if info, err := one.Info(); err == nil && info.Mode().IsRegular() {
				sum += info.Size()
			}
		}
	}
	return sum
}
