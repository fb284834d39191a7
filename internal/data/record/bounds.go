package record

import (
	"errors"
	"fmt"
)

// DefaultSize is the size in bytes up to which the files of a record are read.
const DefaultSize = 1 << 30

// A Reader reads records, which may come from anybody: the size of their files is bounded,
// and they are regular files in the record's folder. The zero Reader has no bound.
type Reader struct {
	// Size bounds the size of a record's files together, in bytes, and with it the length
	// of a line; 0: no bound.
	Size int64
	// Stop ends the reading when it is closed; nil: it is read to its end.
	Stop <-chan struct{}
}

// Own reads the records that this program wrote, whatever their size.
var Own = Reader{}

// lineShare is the longest line as a share of the size. That of DefaultSize, 16 MiB, holds
// for smaller sizes, too. It also bounds the memory that a file without lines takes, such
// as one of zeros.
const lineShare = 64

// longestLine is in bytes; 0: no bound.
func (b Reader) longestLine() int64 {
	if b.Size == 0 {
		return 0
	}
	return max(b.Size, DefaultSize) / lineShare
}

// ErrStopped reports that the reading was stopped.
var ErrStopped = errors.New("interrupted while the record was read")

func (b Reader) stopped() bool {
	select {
	case <-b.Stop:
		return true
	default:
		return false
	}
}

// check refuses a record whose files are larger than the bound, before it is read.
func (b Reader) check(dir string) error {
	if b.Size == 0 {
		return nil
	}
	if size := (files{dir}).size(); size > b.Size {
		return fmt.Errorf("open record %s: its files have %d MiB, more than the %d MiB that are read; if you trust the record, use --max-size %dGi", dir, size>>20, b.Size>>20, size>>30+1)
	}
	return nil
}
