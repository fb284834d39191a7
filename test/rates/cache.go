package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// kept are the truths that were found before, by their keys. They depend on the simulation
// alone, and not on what is judged.
var (
	kept     = map[string]json.RawMessage{}
	keptFile string
)

type truthLine struct {
	Key   string          `json:"key"`
	Truth json.RawMessage `json:"truth"`
}

// load reads the truths of a file that cached adds to; "": none.
func load(name string) error {
	keptFile = name
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var l truthLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return err
		}
		kept[l.Key] = l.Truth
	}
	return lines.Err()
}

// cached is the truth about one record, which find takes long to find.
func cached[T any](way string, k kind, seed uint64, find func() T) (v T) {
	key := fmt.Sprintf("%s %s %d", way, k.name, seed)
	if text, ok := kept[key]; ok && json.Unmarshal(text, &v) == nil {
		return v
	}
	v = find()
	if keptFile == "" {
		return v
	}
	if text, err := json.Marshal(v); err == nil {
		appendTo(keptFile, []truthLine{{key, text}})
	}
	return v
}
