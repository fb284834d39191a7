package schema

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// files are those of a service in two folders, one of which is imported.
var files = map[string]string{
	"shop/orders.proto": `syntax = "proto3";
package shop;
import "money.proto";
import "google/protobuf/timestamp.proto";
message Order { int64 id = 1; common.Money price = 2; google.protobuf.Timestamp at = 3; }
service Orders { rpc Get(Order) returns (Order); }
`,
	"common/money.proto": `syntax = "proto3";
package common;
message Money { int64 cents = 1; }
`,
	"bad.proto": "syntax = \"proto3\";\nmessage A { strin x = 1; }\n",
	"set.bin":   "no descriptors",
}

func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A file is read with all that it imports, whether its own folder is among those of imports
// or above.
func TestRead(t *testing.T) {
	dir := folder(t)
	for _, imports := range [][]string{{dir + "/common"}, {dir + "/common", dir}, {dir + "/shop", dir + "/common"}} {
		data, err := Read(t.Context(), dir+"/shop/orders.proto", imports)
		if err != nil {
			t.Errorf("%v: %v", imports, err)
			continue
		}
		var set descriptorpb.FileDescriptorSet
		if err := proto.Unmarshal(data, &set); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range set.File {
			names = append(names, filepath.Base(f.GetName()))
		}
		if want := []string{"money.proto", "timestamp.proto", "orders.proto"}; !slices.Equal(names, want) {
			t.Errorf("%v: %q, want %q", imports, names, want)
		}
		whole := filepath.Join(dir, "set.pb")
		if err := os.WriteFile(whole, data, 0o600); err != nil {
			t.Fatal(err)
		}
		set.File = set.File[1:]
		part, err := proto.Marshal(&set)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "part.pb"), part, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), filepath.Join(dir, "part.pb"), nil); err == nil || !strings.Contains(err.Error(), "--include_imports") {
			t.Errorf("a set without what it imports: %v", err)
		}
		if again, err := Read(t.Context(), whole, nil); err != nil || string(again) != string(data) {
			t.Errorf("a set of descriptors: %d bytes, %v; want its %d", len(again), err, len(data))
		}
	}
}

func TestErrors(t *testing.T) {
	dir := folder(t)
	for name, want := range map[string]string{
		"shop/orders.proto": "name the folder from which it is imported (import path)",
		"bad.proto":         "bad.proto:2:13: ",
		"absent.proto":      "no such file",
		"set.bin":           "neither a file .proto nor a set of descriptors",
	} {
		if _, err := Read(t.Context(), filepath.Join(dir, name), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
