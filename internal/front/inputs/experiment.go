package inputs

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/captured"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/front/compose"
)

// Parse reads an experiment file as file.Parse does, in which load.mix may also name a file of
// requests, relative to it, or in --set relative to the working folder, in a format that is found by
// its content, and services may be those of compose files. What of them is sent is written to out.
func Parse(path string, data []byte, sets []string, out io.Writer) (*experiment.Experiment, error) {
	sets = slices.Clone(sets)
	inSession := slices.Contains(sets, "load.session=true")
	for i, set := range sets {
		name, is := strings.CutPrefix(set, "load.mix=")
		if name = strings.TrimSpace(name); !is || name == "" || name[0] == '[' {
			continue
		}
		in, err := detected(name, "", inSession)
		if err != nil {
			return nil, fmt.Errorf("--set load.mix=%s: %w", name, err)
		}
		in.Report(out, "")
		list, err := json.Marshal(in.mix("", nil, nil)) // which is YAML
		if err != nil {
			return nil, err
		}
		sets[i] = "load.mix=" + experiment.Escape(string(list))
	}
	data, err := file.WithMix(data, func(name string, session bool) ([]map[string]any, error) {
		in, err := detected(name, filepath.Dir(path), session || inSession)
		if err != nil {
			return nil, fmt.Errorf("%s: load.mix: %s: %w", path, name, err)
		}
		in.Report(out, "")
		return in.mix("", nil, nil), nil
	})
	if err != nil {
		return nil, err
	}
	return file.ParseWith(path, data, sets, compose.Expander(filepath.Dir(path)))
}

func detected(name, dir string, session bool) (*Input, error) {
	at := name
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	data, err := readFile(at)
	if err != nil {
		return nil, err
	}
	format, err := captured.Detect(data)
	if err != nil {
		return nil, err
	}
	if session && format == captured.Lines { // their order counts, though no step needs a value
		format = captured.Session
	}
	in, err := captured.Read(format, data, readFile)
	if err != nil {
		return nil, err
	}
	return newInput(in, "load.mix "+name, format)
}
