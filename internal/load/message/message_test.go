package message

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	pb "google.golang.org/grpc/interop/grpc_testing"
)

// schema is that of grpc-go's test service.
func schema(t testing.TB) []byte {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	file := pb.File_grpc_testing_test_proto
	for i := range file.Imports().Len() {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file.Imports().Get(i)))
	}
	set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	data, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What is wrong with a method or a body is said by name, with what there is.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ method, body, want string }{
		{"grpc.testing.TestService/UnaryCall", `{"response_size": 3, "fillUsername": true}`, ""},
		{"grpc.testing.TestService/UnaryCall", "", ""},
		{"grpc.testing.TestService/EmptyCall", "{}", ""},
		{"grpc.testing.TestService", "", "is not a method of gRPC; write it as pkg.Service/Method"},
		{"/grpc.testing.TestService/UnaryCall", "", "is not a method of gRPC; write it as pkg.Service/Method"},
		{"a.B/C", "", "LoadBalancerStatsService, grpc.testing.ReconnectService, grpc.testing.TestService, grpc.testing.UnimplementedService"},
		{"grpc.testing.SimpleRequest/C", "", "there is no service grpc.testing.SimpleRequest; there are"},
		{"grpc.testing.UnimplementedService/Call", "", "the service grpc.testing.UnimplementedService has no method Call; it has: UnimplementedCall"},
		{"grpc.testing.TestService/UnaryCall", `{"size": 3}`, `the body is no message grpc.testing.SimpleRequest: (line 1:2): unknown field "size"; the fields of SimpleRequest are responseType, responseSize, payload`},
		{"grpc.testing.TestService/UnaryCall", `{"responseSize": "many"}`, `(line 1:18): invalid value for int32 field responseSize: "many"`},
		{"grpc.testing.TestService/UnaryCall", `{"responseSize": 3000000000}`, "invalid value for int32 field responseSize: 3000000000"},
		{"grpc.testing.TestService/UnaryCall", `{`, "the body is no message grpc.testing.SimpleRequest: "},
	} {
		encoder, err := New(schema(t), c.method)
		if err == nil {
			_, err = encoder.Append(nil, []byte(c.body))
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v\nwant %s", c.method, c.body, err, c.want)
		}
	}
}

func TestNoSchema(t *testing.T) {
	incomplete, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(pb.File_grpc_testing_test_proto)}})
	if err != nil {
		t.Fatal(err)
	}
	for want, data := range map[string][]byte{
		"the schema is no set of descriptors": []byte("syntax"),
		"the schema is not valid":             incomplete,
	} {
		if _, err := New(data, "a.B/C"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	encoder, err := New(schema(b), "grpc.testing.TestService/UnaryCall")
	if err != nil {
		b.Fatal(err)
	}
	body := []byte(`{"responseSize": 10, "payload": {"body": "aGVsbG8="}}`)
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		if out, err = encoder.Append(out[:0], body); err != nil {
			b.Fatal(err)
		}
	}
}

// A text may have several messages: a stream takes all of them, other methods one each.
func TestSeveralMessages(t *testing.T) {
	const two = "{\"payload\": {\"body\": \"aGk=\"}}\n {}"
	for method, want := range map[string]struct {
		bodies int
		bytes  string // of the first
	}{
		"UnaryCall":          {2, "\x00\x00\x00\x00\x06\x1a\x04\x12\x02hi"},
		"StreamingInputCall": {1, "\x00\x00\x00\x00\x06\x0a\x04\x12\x02hi\x00\x00\x00\x00\x00"},
	} {
		e, err := New(schema(t), "grpc.testing.TestService/"+method)
		if err != nil {
			t.Fatal(err)
		}
		all, err := e.Bodies([]byte(two))
		if err != nil || len(all) != want.bodies {
			t.Fatalf("%s: %d bodies, %v", method, len(all), err)
		}
		if got, err := e.Append(nil, all[0]); string(got) != want.bytes || err != nil {
			t.Errorf("%s: %q, %v", method, got, err)
		}
		if got, err := e.Append(nil, []byte(two)); (err == nil) != (want.bodies == 1) {
			t.Errorf("%s: both at once: %q, %v", method, got, err)
		}
		if all, err := e.Bodies([]byte("\n")); err != nil || len(all) != 1 {
			t.Errorf("%s: none: %d, %v", method, len(all), err)
		}
	}
	e, err := New(schema(t), "grpc.testing.TestService/UnaryCall")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Bodies([]byte("{} {")); err == nil || !strings.HasPrefix(err.Error(), "message 2 of the body is no JSON") {
		t.Errorf("a cut message: %v", err)
	}
}

// The types of maps may have other names than protoc gives them, relative ones included.
func TestNamesOfMaps(t *testing.T) {
	kind := descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum()
	one, many := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	field := func(name string, n int32) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{Name: &name, Number: &n, Type: kind, Label: one}
	}
	for _, of := range []string{"Counts", ".a.In.Counts"} {
		set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
			Name: new("a.proto"), Package: new("a"), Syntax: new("proto3"),
			MessageType: []*descriptorpb.DescriptorProto{{
				Name: new("In"),
				Field: []*descriptorpb.FieldDescriptorProto{{Name: new("item_counts"), Number: new(int32(1)), Label: many,
					Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), TypeName: new(of)}},
				NestedType: []*descriptorpb.DescriptorProto{{Name: new("Counts"), Options: &descriptorpb.MessageOptions{MapEntry: new(true)},
					Field: []*descriptorpb.FieldDescriptorProto{field("key", 1), field("value", 2)}}},
			}},
			Service: []*descriptorpb.ServiceDescriptorProto{{Name: new("B"), Method: []*descriptorpb.MethodDescriptorProto{
				{Name: new("C"), InputType: new(".a.In"), OutputType: new(".a.In")}}}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(set, "a.B/C")
		if err != nil {
			t.Fatalf("%s: %v", of, err)
		}
		if got, err := e.Append(nil, []byte(`{"itemCounts": {"1": 2}}`)); string(got) != "\x00\x00\x00\x00\x06\x0a\x04\x08\x01\x10\x02" {
			t.Errorf("%s: %q, %v", of, got, err)
		}
	}
}
