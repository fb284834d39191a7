package vm

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A verdict is the console of a machine whose tests all passed. It is kept in the cache
// folder, one for each layout, under a hash of all that the machine was made of: test
// programs, kernel, emulator and layout. A machine made of the same is not booted again.

// identity is the hash of a machine, in hexadecimal digits.
func (m machine) identity(layout, initramfs string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, layout)
	for _, name := range []string{initramfs, m.kernel, m.qemu} {
		file, err := os.Open(name)
		if err != nil {
			return "", err
		}
		n, err := io.Copy(hash, file)
		if err = errors.Join(err, file.Close()); err != nil {
			return "", err
		}
		fmt.Fprintln(hash, n)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// kept is the console of the machine with this identity, or nil.
func kept(cache, layout, identity string) []byte {
	content, err := os.ReadFile(verdict(cache, layout))
	if err != nil {
		return nil
	}
	of, console, _ := bytes.Cut(content, []byte("\n"))
	if string(of) != identity {
		return nil
	}
	return console
}

// keep replaces the layout's verdict. It gets its name only when it is complete.
func keep(cache, layout, identity string, console []byte) error {
	name := verdict(cache, layout)
	if err := os.WriteFile(name+".part", append([]byte(identity+"\n"), console...), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".part", name)
}

func verdict(cache, layout string) string { return filepath.Join(cache, "verdict-"+layout) }
