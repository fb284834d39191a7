package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Key makes hashes of values. It is not in a record: whoever has only the record cannot
// find a value by trying words.
type Key []byte

const (
	keyFile = "record.key"
	keySize = 32 // bytes, as SHA-256
)

// NewKey returns a random key, whose hashes compare within one run only.
func NewKey() Key {
	key := make(Key, keySize)
	rand.Read(key) // it never fails
	return key
}

// OpenKey returns the key in a folder of the user. The first call makes it, with mode
// 0600. It follows no link.
func OpenKey(dir string) (Key, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the key for hashes: %w", err)
	}
	path := filepath.Join(dir, keyFile)
	for {
		key, err := readKey(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
		// Another run may make it at the same time: the first link stands.
		if err := makeKey(dir, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("make the key for hashes: %w", err)
		}
	}
}

func readKey(path string) (Key, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	key := make(Key, keySize+1)
	n, err := io.ReadFull(f, key)
	if !errors.Is(err, io.ErrUnexpectedEOF) || n != keySize {
		return nil, fmt.Errorf("read the key for hashes: %s does not have %d bytes; remove it, and a new one is made", path, keySize)
	}
	return key[:keySize], nil
}

func makeKey(dir, path string) error {
	temp, err := os.CreateTemp(dir, "."+keyFile+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(NewKey())
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Link(temp.Name(), path)
}

// Hash is the keyed hash (HMAC-SHA-256, 128 bits) of a variable's value, after a short
// name of the key. Hashes of different keys do not compare. The name of the variable is
// hashed too: a record does not show that two variables have one value.
func (k Key) Hash(variable, value string) string {
	mac := func(text string) []byte {
		h := hmac.New(sha256.New, k)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	return hex.EncodeToString(mac("key")[:4]) + "-" + hex.EncodeToString(mac(fmt.Sprintf("%d:%s%s", len(variable), variable, value))[:16])
}

// Compare reports whether two hashes are of one value. known is false if they were made
// with different keys.
func Compare(a, b string) (same, known bool) {
	const name = 8 + 1 // the key's, and the dash
	if len(a) < name || len(b) < name || a[:name] != b[:name] {
		return false, false
	}
	return a == b, true
}
