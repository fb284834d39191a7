package traffic

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/front/reach"
)

// Calls are the flags of a load that calls a method of gRPC.
type Calls struct {
	GRPC    string   // pkg.Service/Method; "": HTTP
	Proto   string   // file with its schema; "": by reflection
	Imports []string // folders of what Proto imports
	Gzip    bool
	Health  bool   // wait for grpc.health.v1
	Largest string // maximum size of a message of an answer; "": the default
}

// Define defines the flags.
func (c *Calls) Define(flags *pflag.FlagSet) {
	flags.StringVar(&c.GRPC, "grpc", "", "call this method of gRPC, as pkg.Service/Method: --body is its message as JSON, --header sets metadata")
	flags.StringVar(&c.Proto, "proto", "", "file .proto with the method, or descriptors from protoc or buf (default: ask the service, by reflection)")
	flags.StringArrayVar(&c.Imports, "import-path", nil, "with --proto: folder of what the file imports (repeatable; default: its own)")
	flags.BoolVar(&c.Health, "health", false, "with --grpc: wait until the server answers grpc.health.v1 that it serves")
	flags.BoolVar(&c.Gzip, "gzip", false, "with --grpc: compress messages with gzip, and accept such answers")
	flags.StringVar(&c.Largest, "max-message", "", "with --grpc: maximum size of a message of an answer, 4Mi or more (default 4Mi)")
}

// Absolute makes the names of files independent of the working folder.
func (c *Calls) Absolute() {
	c.Imports = slices.Clone(c.Imports)
	for i := range c.Imports {
		c.Imports[i] = absolute(c.Imports[i])
	}
	if c.Proto != "" {
		c.Proto = absolute(c.Proto)
	}
}

func absolute(name string) string {
	if whole, err := filepath.Abs(name); err == nil {
		return whole
	}
	return name
}

// Request sets the request of the load.
func (c Calls) Request(s *file.Settings) {
	s.Set("--grpc", "load.request.grpc", c.GRPC)
	s.SetGiven("--proto", "load.request.proto", c.Proto)
	s.SetGiven("--import-path", "load.request.import_paths", c.Imports)
	s.SetGiven("--gzip", "load.request.gzip", c.Gzip)
	s.SetGiven("--max-message", "load.request.max_message", c.Largest)
}

// Connect makes a first connection to the target, which with --health must serve before.
func (o *Options) Connect(ctx context.Context, e *experiment.Experiment, t reach.Target) error {
	if o.Health {
		if err := reach.AwaitHealth(ctx, e, t); err != nil {
			return err
		}
	}
	if err := reach.Connect(e, t); err != nil {
		return err
	}
	var err error
	o.Addresses, err = addressesOf(t.Address, o.Sources)
	return err
}

// serverOf is the URL of a gRPC service, which may be written as host:port. It has no path:
// that of a call is its method.
func serverOf(text string) (string, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "http", text
	}
	if strings.ContainsAny(strings.TrimSuffix(rest, "/"), "/?") {
		return "", fmt.Errorf("%s: with --grpc write host:port, or https://host:port for TLS: --grpc has the path", text)
	}
	return scheme + "://" + rest, nil
}

// ParseHeaders parses the values of a flag, "Name: value".
func ParseHeaders(flag string, texts []string) (map[string]string, error) {
	var headers map[string]string
	for _, text := range texts {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("%s %q: write it as 'Name: value'", flag, text)
		}
		if headers == nil {
			headers = map[string]string{}
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return headers, nil
}
