package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/millicore/millicore/internal/host/runtimes"
)

// RuntimeConfig are the settings of .NET's garbage collector in the configuration file of
// a program. Variables override them.
type RuntimeConfig struct {
	File       string            // in the process's own root
	Properties map[string]string // as written, such as System.GC.Server: "true"
}

// dotnetConfig reads the file runtimeconfig.json of a .NET program; nil if there is none,
// or if it could not be read, which is then in Unseen.
func (s *Scanner) dotnetConfig(p *Process) *RuntimeConfig {
	name := runtimeConfigOf(p.Exe, p.Command)
	if name == "" {
		return nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.Folder, name)
	}
	file, err := s.procfs.Within(p.PID, name, mostConfig)
	var properties map[string]string
	if err == nil {
		properties, err = parseRuntimeConfig(file.Text)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || p.refuse(err):
		return nil
	case err != nil:
		p.Unseen = append(p.Unseen, fmt.Sprintf("its settings in %s could not be read: %v", name, err))
		return nil
	}
	return &RuntimeConfig{File: name, Properties: properties}
}

// runtimeConfigOf is the path of a .NET program's runtimeconfig.json; "": none is known.
// The file is beside the program: App.dll in `dotnet App.dll`, or the executable App, which
// loads App.dll. `dotnet exec --runtimeconfig FILE App.dll` names another one. All options
// of the host before the program have a value.
func runtimeConfigOf(exe string, command []string) string {
	const suffix = ".runtimeconfig.json"
	if filepath.Base(exe) != "dotnet" {
		return exe + suffix
	}
	args := command[min(1, len(command)):]
	for i := 0; i < len(args); i++ {
		program, isProgram := strings.CutSuffix(args[i], ".dll")
		switch {
		case args[i] == "exec":
		case args[i] == "--runtimeconfig" && i+1 < len(args):
			return args[i+1]
		case strings.HasPrefix(args[i], "-"):
			i++
		case isProgram:
			return program + suffix
		default:
			return ""
		}
	}
	return ""
}

// parseRuntimeConfig returns the properties of the garbage collector.
//
//	{"runtimeOptions": {"configProperties": {"System.GC.Server": true, "System.GC.HeapHardLimit": 209715200}}}
func parseRuntimeConfig(text []byte) (map[string]string, error) {
	var file struct {
		Options struct {
			Properties map[string]any `json:"configProperties"`
		} `json:"runtimeOptions"`
	}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	d.UseNumber() // a size has more digits than a float64
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	properties := map[string]string{}
	for name, value := range file.Options.Properties {
		if strings.HasPrefix(name, runtimes.CollectorProperty) {
			properties[name] = fmt.Sprint(value)
		}
	}
	return properties, nil
}
