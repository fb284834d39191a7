package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
)

// line is one line of a file. Its text is valid until the next one is read.
type line struct {
	text   []byte
	number int   // from 1
	from   int64 // where it begins in the file
}

// stretch is a part of a file with whole lines.
type stretch struct {
	from, to int64
	first    int // number of its first line
}

// index is where the lines of each cell are in a file.
type index map[int][]stretch

// lines yields the lines of a file: those of the record's cell, or all.
func (r *Record) lines(file string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		f, err := files{r.Dir}.open(file)
		if err != nil {
			yield(line{}, fmt.Errorf("open record %s: %w", r.Dir, err))
			return
		}
		defer f.Close()
		parts := []stretch{{0, math.MaxInt64, 1}}
		if r.only != nil {
			places, err := r.indexOf(file, f)
			if err != nil {
				yield(line{}, err)
				return
			}
			parts = places[*r.only]
		}
		r.walk(file, f, parts, yield)
	}
}

// walk yields the lines of parts of a file.
func (r *Record) walk(file string, f *os.File, parts []stretch, yield func(line, error) bool) {
	in := r.reader.newLines(nil)
	for _, part := range parts {
		in.in.Reset(io.NewSectionReader(f, part.from, part.to-part.from))
		for at := (line{number: part.first, from: part.from}); ; at.number++ {
			text, err := in.next()
			if err == io.EOF {
				break // an incomplete last line
			}
			if err == nil && r.reader.stopped() {
				err = ErrStopped
			}
			if err != nil {
				yield(line{}, r.atLine(file, at.number, err))
				return
			}
			at.text = text
			if !yield(at, nil) {
				return
			}
			at.from += int64(len(text))
		}
	}
}

// indexOf finds the lines of each cell in a file, once.
func (r *Record) indexOf(file string, f *os.File) (index, error) {
	if known, ok := r.places[file]; ok {
		return known, nil
	}
	out, of, cells := index{}, -1, len(r.Run.Experiment.Cells)
	var failed error
	r.walk(file, f, []stretch{{0, math.MaxInt64, 1}}, func(l line, err error) bool {
		cell := 0
		if err == nil {
			if cell, err = cellOf(l.text); err == nil && (cell < 0 || cell >= cells) {
				err = fmt.Errorf("it is of cell %d, of %d in the plan", cell, cells)
			}
			if err != nil {
				err = r.atLine(file, l.number, err)
			}
		}
		if failed = err; err != nil {
			return false
		}
		if cell != of {
			out[cell], of = append(out[cell], stretch{l.from, l.from, l.number}), cell
		}
		out[cell][len(out[cell])-1].to = l.from + int64(len(l.text))
		return true
	})
	if failed == nil {
		r.places[file] = out
	}
	return out, failed
}

// cellOf is the cell of a line, without reading all of it where it begins as the lines of a
// Writer do.
func cellOf(text []byte) (int, error) {
	if rest, ok := bytes.CutPrefix(text, []byte(`{"trial":`)); ok {
		rest = bytes.TrimLeft(rest, "0123456789")
		if rest, ok = bytes.CutPrefix(rest, []byte(`,"cell":`)); ok {
			n, digits := 0, 0
			for ; digits < len(rest) && digits < 9 && rest[digits] >= '0' && rest[digits] <= '9'; digits++ {
				n = 10*n + int(rest[digits]-'0')
			}
			if digits > 0 && digits < len(rest) && (rest[digits] == ',' || rest[digits] == '}') {
				return n, nil
			}
		}
	}
	var of struct {
		Cell int `json:"cell"`
	}
	err := json.Unmarshal(bytes.TrimSpace(text), &of)
	return of.Cell, err
}

// lineReader reads lines of a bounded length.
type lineReader struct {
	reader Reader
	in     *bufio.Reader
	long   []byte // the buffer of a line longer than that of in
}

func (b Reader) newLines(from io.Reader) *lineReader {
	return &lineReader{reader: b, in: bufio.NewReaderSize(from, 1<<16)}
}

// next returns the next line, which is valid until the next call; io.EOF: there is no
// whole line any more.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	most := l.reader.longestLine()
	for l.long = append(l.long[:0], line...); err == bufio.ErrBufferFull; l.long = append(l.long, line...) {
		if most > 0 && int64(len(l.long)) > most {
			return nil, fmt.Errorf("it is longer than %d MiB; if you trust the record, read it with --max-size %dGi", most>>20, 4*lineShare*most>>30)
		}
		line, err = l.in.ReadSlice('\n')
	}
	return l.long, err
}
