package record

import (
	"bytes"
	"errors"
	"fmt"
)

// DefaultSize is the size in bytes up to which the files of a record are read.
const DefaultSize = 1 << 30

// A Reader reads records, which may come from anybody: their files are bounded, and are
// regular files in the record's folder. The zero Reader has no bound.
type Reader struct {
	// Size bounds the size of a record's files together, in bytes, and with it the length
	// of a line and the number of lines and of values; 0: no bound.
	Size   int64
	memory int64 // bound of the memory in tests; 0: as of Size
	// Stop ends the reading when it is closed; nil: it is read to its end.
	Stop <-chan struct{}
}

// Own reads the records that this program wrote, whatever their size.
var Own = Reader{}

// The bounds of a part of a record, as shares of its size. Those of DefaultSize hold for
// smaller sizes, too. At DefaultSize a line has at most 16 MiB, run.json 64 MiB, and each
// of them 524,288 values: those of an experiment with MostCells cells and MostTrials
// trials fit, and a value takes up to a kilobyte of memory. A line has at least 64 bytes
// on average: those of Millicore are longer.
const (
	lineShare  = 64
	runShare   = 16
	valueShare = 2048
	leastLine  = 64 // bytes
)

// part is a share of the size; 0: no bound.
func (b Reader) part(share int64) int64 {
	if b.Size == 0 {
		return 0
	}
	return max(b.Size, DefaultSize) / share
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

// tooLarge is the error for a record beyond a bound. Its text names the flag.
func (b Reader) tooLarge(what string) error {
	return fmt.Errorf("%s; if you trust the record, read it with --max-size %dGi", what, 4*max(b.Size, DefaultSize)>>30)
}

// values refuses a JSON text with more values than its bound, before it is decoded: an
// empty object of two bytes can take a kilobyte of memory.
func (b Reader) values(text []byte) error {
	if most := b.part(valueShare); most > 0 && int64(bytes.Count(text, []byte{','})) >= most && separators(text) >= most {
		return b.tooLarge(fmt.Sprintf("it has more than %d values", most))
	}
	return nil
}

// separators counts the commas between the values of a JSON text, without those in
// strings.
func separators(text []byte) (n int64) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			n++
		}
	}
	return n
}
