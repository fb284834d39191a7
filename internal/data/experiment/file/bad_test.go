package file_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/test/testkit/golden"
)

const badFile = "testdata/bad.txtar"

// badExperiment is one entry of testdata/bad.txtar.
type badExperiment struct {
	name   string
	yaml   []byte
	sets   []string
	errors *txtar.File
}

func badExperiments(t testing.TB) (*txtar.Archive, []badExperiment) {
	t.Helper()
	archive, err := txtar.ParseFile(badFile)
	if err != nil {
		t.Fatal(err)
	}
	var all []badExperiment
	for i := range archive.Files {
		f := &archive.Files[i]
		name, part, _ := strings.Cut(f.Name, ".")
		switch part {
		case "yaml":
			all = append(all, badExperiment{name: name, yaml: f.Data})
		case "sets":
			all[len(all)-1].sets = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		case "errors":
			all[len(all)-1].errors = f
		}
		if all[len(all)-1].name != name {
			t.Fatalf("%s: %s stands in the wrong place", badFile, f.Name)
		}
	}
	return archive, all
}

func TestBadExperiments(t *testing.T) {
	archive, all := badExperiments(t)
	schema := compiledSchema(t)
	for _, bad := range all {
		t.Run(bad.name, func(t *testing.T) {
			_, err := file.Parse(bad.name+".yaml", bad.yaml, bad.sets)
			var list file.Errors
			if !errors.As(err, &list) {
				t.Fatalf("want file.Errors, got %T: %v", err, err)
			}
			got := list.Error() + "\n" + schemaVerdict(schema, bad.yaml) + "\n"
			if golden.Updating() {
				bad.errors.Data = []byte(got)
			}
			if diff := cmp.Diff(string(bad.errors.Data), got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
	if golden.Updating() {
		if err := os.WriteFile(badFile, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func schemaVerdict(schema *jsonschema.Schema, data []byte) string {
	value, err := asJSON(data)
	switch {
	case err != nil:
		return "schema: no YAML to look at"
	case schema.Validate(value) != nil:
		return "schema: refuses"
	}
	return "schema: accepts"
}

// compiledSchema compiles the schema as an editor would.
func compiledSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(file.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asJSON is YAML as a JSON Schema sees it.
func asJSON(data []byte) (any, error) {
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		return nil, err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

func TestWhatIsNoText(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"control character": {"name: x\x01\n", "bad.yaml:1:8: control character U+0001; remove it"},
		"not UTF-8":         {"name: x\nabout: caf\xe9\n", "bad.yaml:2:11: byte 0xe9 is not UTF-8; save the file as UTF-8"},
		"too large": {
			"name: " + strings.Repeat("x", 1<<20),
			"bad.yaml:1:1: the file has 1048582 bytes; the maximum is 1048576",
		},
		"too many tokens": {
			strings.Repeat("- 1\n", 5_000),
			"bad.yaml:2501:1: the file has more than 5000 YAML tokens up to here, which is the maximum",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := file.Parse("bad.yaml", []byte(c.text), nil)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestErrorsAreFoundOneByOne(t *testing.T) {
	_, err := file.Parse("bad.yaml", []byte("nam: x\n"), []string{"limts.cpu=1"})
	var first *file.Error
	if !errors.As(err, &first) {
		t.Fatalf("errors.As finds no *Error in %v", err)
	}
	want := &file.Error{File: "bad.yaml", Line: 1, Column: 1, Message: `unknown key "nam"; did you mean "name"?`}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("first error (-want +got):\n%s", diff)
	}
	var all file.Errors
	if !errors.As(err, &all) || len(all) != 2 || all[1].File != "--set limts.cpu=1" || all[1].Line != 0 {
		t.Errorf("want a second error without a line, from --set: %v", all)
	}
}

func TestAnErrorHasThePathOfItsField(t *testing.T) {
	_, err := file.Parse("bad.yaml", []byte(least+"limits: {cpu: lots}\n"), nil)
	want := file.Errors{{File: "bad.yaml", Line: 5, Column: 15, Path: "limits.cpu",
		Message: `"lots" is not a quantity of CPUs; write CPUs or thousandths of one, as in 1.5 or 500m`}}
	if diff := cmp.Diff(want, err); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}
