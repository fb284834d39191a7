// Package message makes the bytes of gRPC requests from JSON. A schema, which lists the
// services and their messages, says how. It is pure: packages data/experiment/schema and
// load/reflection find schemas.
package message

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Encoder makes the requests of one method. It may be used by several goroutines.
type Encoder struct {
	method protoreflect.MethodDescriptor
	input  protoreflect.MessageDescriptor
	types  *dynamicpb.Types // of Any
	gzip   bool
}

// Gzip makes an encoder whose messages are compressed.
func (e *Encoder) Gzip() *Encoder {
	with := *e
	with.gzip = true
	return &with
}

// Streams reports whether the answer is a stream of messages.
func (e *Encoder) Streams() bool { return e.method.IsStreamingServer() }

// prefix is the number of bytes before a message: whether it is compressed, and its length
// (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
const prefix = 5

// SplitMethod splits pkg.Service/Method.
func SplitMethod(method string) (service, name string, err error) {
	service, name, found := strings.Cut(method, "/")
	if !found || !protoreflect.FullName(service).IsValid() || !protoreflect.Name(name).IsValid() {
		return "", "", fmt.Errorf("%q is not a method of gRPC; write it as pkg.Service/Method", method)
	}
	return service, name, nil
}

// New makes the encoder of a method, such as pkg.Service/Method. The schema is a
// FileDescriptorSet, as protoc -o writes it. An unknown service or method is an error with
// those that there are.
func New(schema []byte, method string) (*Encoder, error) {
	service, name, err := SplitMethod(method)
	if err != nil {
		return nil, err
	}
	files, err := Files(schema)
	if err != nil {
		return nil, err
	}
	found, err := files.FindDescriptorByName(protoreflect.FullName(service))
	s, is := found.(protoreflect.ServiceDescriptor)
	if err != nil || !is {
		return nil, NoService(service, services(files))
	}
	m := s.Methods().ByName(protoreflect.Name(name))
	if m == nil {
		var all []string
		for i := range s.Methods().Len() {
			all = append(all, string(s.Methods().Get(i).Name()))
		}
		return nil, fmt.Errorf("the service %s has no method %s; it has: %s", service, name, strings.Join(all, ", "))
	}
	return &Encoder{m, m.Input(), dynamicpb.NewTypes(files), false}, nil
}

// NoService is the error of a service that is not one of those that there are.
func NoService(name string, all []string) error {
	if len(all) == 0 {
		return fmt.Errorf("there is no service %s, nor any other", name)
	}
	slices.Sort(all)
	return fmt.Errorf("there is no service %s; there are: %s", name, strings.Join(all, ", "))
}

// Files are the files of a schema.
func Files(schema []byte) (*protoregistry.Files, error) {
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(schema, &set); err != nil || len(set.File) == 0 {
		return nil, errors.New("the schema is no set of descriptors")
	}
	for _, file := range set.File {
		nameMaps(file.MessageType)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return nil, fmt.Errorf("the schema is not valid, or not complete: %s", plain(err))
	}
	return files, nil
}

// nameMaps gives the types of maps the names that they must have. Node's @grpc/proto-loader
// gives them others.
func nameMaps(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		nameMaps(m.NestedType)
		for _, entry := range m.NestedType {
			for _, field := range m.Field {
				of := field.GetTypeName()
				if at := strings.LastIndexByte(of, '.') + 1; entry.GetOptions().GetMapEntry() && of[at:] == entry.GetName() {
					entry.Name = new(entryName(field.GetName()))
					field.TypeName = new(of[:at] + *entry.Name)
					break
				}
			}
		}
	}
}

// entryName is the name of a map's type, of its field's: ItemCountsEntry of item_counts.
func entryName(field string) string {
	words := strings.Split(field, "_")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "") + "Entry"
}

func services(files *protoregistry.Files) (all []string) {
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			all = append(all, string(f.Services().Get(i).FullName()))
		}
		return true
	})
	return all
}

// Append appends a request whose message is JSON. An empty text is the empty message. If the
// method takes a stream, the text may have several messages, one after another. An error
// names the field that does not fit.
func (e *Encoder) Append(b, text []byte) ([]byte, error) {
	if !e.method.IsStreamingClient() {
		return e.append(b, text)
	}
	all, err := Split(text)
	for i := 0; i < len(all) && err == nil; i++ {
		b, err = e.append(b, all[i])
	}
	return b, err
}

// Bodies are those that requests have in turn, of a text with messages one after another: one
// for each message, unless the method takes a stream.
func (e *Encoder) Bodies(text []byte) ([][]byte, error) {
	if e.method.IsStreamingClient() {
		return [][]byte{text}, nil
	}
	return Split(text)
}

// Split splits a text that has values of JSON, one after another. An empty text has one.
func Split(text []byte) (all [][]byte, err error) {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var one json.RawMessage
		switch err := d.Decode(&one); {
		case err == io.EOF && all == nil:
			return [][]byte{nil}, nil
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("message %d of the body is no JSON: %w", len(all)+1, err)
		}
		all = append(all, one)
	}
}

func (e *Encoder) append(b, text []byte) ([]byte, error) {
	m := dynamicpb.NewMessage(e.input)
	if len(text) > 0 {
		if err := (protojson.UnmarshalOptions{Resolver: e.types}).Unmarshal(text, m); err != nil {
			return b, e.unfit(err)
		}
	}
	start := len(b)
	b = append(b, make([]byte, prefix)...)
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, m)
	if err != nil {
		return b[:start], e.unfit(err)
	}
	if e.gzip {
		b = compress(b, start+prefix)
		b[start] = 1
	}
	binary.BigEndian.PutUint32(b[start+1:], uint32(len(b)-start-prefix))
	return b, nil
}

// writers are of gzip: one has 800 KB.
var writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compress compresses the bytes from an index on.
func compress(b []byte, from int) []byte {
	var short bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	w.Reset(&short)
	_, _ = w.Write(b[from:]) // into memory
	_ = w.Close()
	writers.Put(w)
	return append(b[:from], short.Bytes()...)
}

// unfit is the error of a text that is no message. If a field is not known, it has those
// that are.
func (e *Encoder) unfit(err error) error {
	text := plain(err)
	if fields := e.input.Fields(); strings.Contains(text, "unknown field") && fields.Len() > 0 {
		var all []string
		for i := range fields.Len() {
			all = append(all, fields.Get(i).JSONName())
		}
		text += fmt.Sprintf("; the fields of %s are %s", e.input.Name(), strings.Join(all, ", "))
	}
	return fmt.Errorf("the body is no message %s: %s", e.input.FullName(), text)
}

// plain is an error of protobuf without its prefix, after which stands one of two kinds of
// space at random.
func plain(err error) string {
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return strings.TrimPrefix(text, "proto: ")
}
