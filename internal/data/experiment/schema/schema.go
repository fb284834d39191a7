// Package schema reads the schema of a gRPC service from files.
package schema

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
)

// largest is the maximum size of a set of descriptors, in bytes.
const largest = 16 << 20

// Read reads a file .proto with what it imports, from its own folder and the given ones, or
// another file, which must be a set of descriptors (FileDescriptorSet) as protoc -o and buf
// build -o write it. It returns such a set. An error of a file .proto has its line.
func Read(ctx context.Context, name string, imports []string) ([]byte, error) {
	if filepath.Ext(name) != ".proto" {
		return readSet(name)
	}
	if _, err := os.Stat(name); err != nil {
		return nil, err
	}
	// The name of a file is relative to the folder that other files import it from.
	folders, base := imports, ""
	for _, folder := range imports {
		if within, err := filepath.Rel(folder, name); err == nil && filepath.IsLocal(within) {
			base = filepath.ToSlash(within)
			break
		}
	}
	if base == "" {
		folders, base = append([]string{filepath.Dir(name)}, imports...), filepath.Base(name)
	}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: folders})}
	files, err := compiler.Compile(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, hint(err))
	}
	set, seen := &descriptorpb.FileDescriptorSet{}, map[string]bool{}
	for _, file := range files {
		add(set, seen, file)
	}
	return proto.Marshal(set)
}

// hint says what to do about a file that was not found.
func hint(err error) string {
	if errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "could not resolve") {
		return "; name the folder from which it is imported (import path)"
	}
	return ""
}

// add adds a file after those that it imports.
func add(set *descriptorpb.FileDescriptorSet, seen map[string]bool, file linker.File) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for i := range file.Imports().Len() {
		if imported := file.FindImportByPath(file.Imports().Get(i).Path()); imported != nil {
			add(set, seen, imported)
		}
	}
	set.File = append(set.File, protoutil.ProtoFromFileDescriptor(file))
}

func readSet(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largest {
		return nil, fmt.Errorf("%s is no file of at most %d MiB", name, largest>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil || len(set.File) == 0 {
		return nil, fmt.Errorf("%s is neither a file .proto nor a set of descriptors, as protoc --include_imports -o or buf build -o writes it", name)
	}
	if _, err := protodesc.NewFiles(&set); err != nil {
		return nil, fmt.Errorf("%s is not complete (protoc needs --include_imports): %w", name, err)
	}
	return data, nil
}
