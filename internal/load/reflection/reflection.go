// Package reflection asks a gRPC service for its schema, by grpc.reflection.v1 or the older
// v1alpha (https://github.com/grpc/grpc/blob/master/doc/server-reflection.md).
package reflection

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/load/message"
	"github.com/millicore/millicore/internal/load/wire"
)

// ErrNone is the error of a service without reflection.
var ErrNone = errors.New("the service has no reflection; name a file with its schema: load.request.proto (load and try: --proto)")

// Client sends the calls.
type Client struct {
	HTTP    *http.Client
	URL     string // of the service, without a path: http://host:port
	Headers http.Header
	Host    string // the authority; "": that of the URL
}

// large is a schema's messages, each of which is a file.
var large = &wire.Call{Largest: 16 << 20}

// mostFiles bounds the files of a schema.
const mostFiles = 2000

// Schema is a FileDescriptorSet with the service of a method, such as pkg.Service/Method, and
// all that it refers to. If the service is not there, the error names those that are.
func (c *Client) Schema(ctx context.Context, method string) ([]byte, error) {
	service, _, err := message.SplitMethod(method)
	if err != nil {
		return nil, err
	}
	files, asked := map[string]bool{}, map[string]bool{}
	version, found, err := c.first(ctx, service)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	for len(found) > 0 {
		var missing []string
		for _, data := range found {
			file := &descriptorpb.FileDescriptorProto{}
			if err := proto.Unmarshal(data, file); err != nil {
				return nil, fmt.Errorf("reflection: a file of the service's schema is not valid: %w", err)
			}
			if !files[file.GetName()] {
				files[file.GetName()] = true
				set.File = append(set.File, file)
			}
			missing = append(missing, file.Dependency...)
		}
		if len(files) > mostFiles {
			return nil, fmt.Errorf("reflection: the service's schema has more than %d files", mostFiles)
		}
		found = nil
		for _, name := range missing {
			if files[name] || asked[name] {
				continue
			}
			asked[name] = true
			a, err := c.ask(ctx, version, fileByName, name)
			if err == nil {
				err = a.err()
			}
			if err != nil {
				return nil, fmt.Errorf("reflection: the file %s: %w", name, err)
			}
			found = append(found, a.files...)
		}
	}
	return proto.Marshal(set)
}

// first finds the version that the service speaks, and the files with a service.
func (c *Client) first(ctx context.Context, service string) (version string, files [][]byte, none error) {
	for _, version = range []string{"v1", "v1alpha"} {
		a, err := c.ask(ctx, version, fileBySymbol, service)
		switch {
		case errors.Is(err, ErrNone):
			none = err
			continue
		case err != nil:
			return "", nil, fmt.Errorf("reflection: %w", err)
		case a.err() == nil:
			return version, a.files, nil
		}
		list, err := c.ask(ctx, version, listServices, "")
		switch {
		case err != nil:
			return "", nil, fmt.Errorf("reflection: %w", err)
		case slices.Contains(list.services, service):
			return "", nil, fmt.Errorf("reflection: the service does not describe %s: %w", service, a.err())
		}
		return "", nil, message.NoService(service, list.services)
	}
	return "", nil, none
}

// Fields of a ServerReflectionRequest.
const (
	fileByName   = 3
	fileBySymbol = 4
	listServices = 7
)

// answer is a ServerReflectionResponse.
type answer struct {
	files    [][]byte
	services []string
	failed   bool
	text     string
}

func (a *answer) err() error {
	if a.failed {
		return errors.New(a.text)
	}
	return nil
}

// ask sends one request, in a call of its own.
func (c *Client) ask(ctx context.Context, version string, field protowire.Number, value string) (*answer, error) {
	body := make([]byte, 5)
	body = protowire.AppendString(protowire.AppendTag(body, field, protowire.BytesType), value)
	binary.BigEndian.PutUint32(body[1:], uint32(len(body)-5))
	path := "/grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo"
	data, err := c.Call(ctx, path, body, large)
	var failed *Failed
	switch {
	case errors.As(err, &failed) && failed.Unknown():
		return nil, fmt.Errorf("%w; it answered %w", ErrNone, err)
	case err != nil:
		return nil, err
	case len(data) < 5:
		return nil, errors.New("it answered nothing")
	}
	return parse(data[5 : 5+binary.BigEndian.Uint32(data[1:])])
}

// Failed is the error of a call whose status is not OK.
type Failed struct {
	Code string // its name
	Text string // what the service says
}

// Unknown reports whether the service does not have the method.
func (f *Failed) Unknown() bool { return f.Code == signals.Codes[unimplemented] }

func (f *Failed) Error() string { return strings.TrimSuffix(f.Code+": "+f.Text, ": ") }

// Call makes a call with the bytes of its requests, and returns those of its answer, as many as
// one message may have. The error of an answer that a load counts as bad is a Failed.
func (c *Client) Call(ctx context.Context, path string, body []byte, want *wire.Call) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = c.Headers.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("TE", "trailers")
	r.Host = c.Host
	got, err := c.HTTP.Do(r)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) { // its text has the URL
			err = failed.Err
		}
		return nil, err
	}
	defer got.Body.Close()
	var all wire.Messages
	var data []byte
	part := make([]byte, 64<<10)
	for err == nil {
		var n int
		n, err = got.Body.Read(part)
		all.Read(part[:n], want)
		data = append(data, part[:min(int64(n), want.Largest+5-int64(len(data)))]...)
	}
	if err != io.EOF {
		return nil, err
	}
	if err := status(got); err != nil {
		return nil, err
	}
	if wrong := all.Wrong(want); wrong != 0 {
		return nil, &Failed{Code: signals.StatusName(wrong)}
	}
	return data, nil
}

const unimplemented = 12

// status is the error of an answer's status.
func status(r *http.Response) error {
	text, said := r.Trailer.Get("Grpc-Status"), r.Trailer.Get("Grpc-Message")
	if text == "" { // trailers only
		text, said = r.Header.Get("Grpc-Status"), r.Header.Get("Grpc-Message")
	}
	code, err := strconv.Atoi(text)
	switch {
	case text == "" && r.StatusCode == http.StatusNotFound: // as gRPC maps it, grpc/doc/http-grpc-status-mapping.md
		return &Failed{signals.Codes[unimplemented], r.Status + ", so it may not speak gRPC"}
	case text == "" && r.StatusCode != http.StatusOK:
		return fmt.Errorf("the service does not speak gRPC: it answered %s", r.Status)
	case err != nil || code < 0 || code >= len(signals.Codes):
		return fmt.Errorf("the service does not speak gRPC: its answer has no grpc-status")
	case code == 0:
		return nil
	}
	if plain, err := url.PathUnescape(said); err == nil {
		said = plain
	}
	return &Failed{signals.Codes[code], said}
}

// parse reads a ServerReflectionResponse.
func parse(b []byte) (*answer, error) {
	a := &answer{}
	err := fields(b, func(number protowire.Number, value []byte) error {
		switch number {
		case 4: // file_descriptor_response
			return fields(value, func(number protowire.Number, value []byte) error {
				if number == 1 {
					a.files = append(a.files, value)
				}
				return nil
			})
		case 6: // list_services_response
			return fields(value, func(_ protowire.Number, service []byte) error {
				return fields(service, func(number protowire.Number, name []byte) error {
					if number == 1 {
						a.services = append(a.services, string(name))
					}
					return nil
				})
			})
		case 7: // error_response
			a.failed = true
			return fields(value, func(number protowire.Number, text []byte) error {
				if number == 2 {
					a.text = string(text)
				}
				return nil
			})
		}
		return nil
	})
	return a, err
}

// fields calls take for each field of a message that is a text, bytes or a message.
func fields(b []byte, take func(protowire.Number, []byte) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return protowire.ParseError(n)
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(b)
			if err := take(number, value); err != nil {
				return err
			}
		}
		b = b[n:]
	}
	return nil
}
