package file_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/experiment/file"
)

const schemaFile = "../../../docs/experiment.schema.json"

func TestTheCommittedSchemaIsUpToDate(t *testing.T) {
	if *update {
		if err := os.WriteFile(schemaFile, file.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(committed), string(file.Schema())); diff != "" {
		t.Errorf("docs/experiment.schema.json is old; go test ./internal/experiment/file -update writes it:\n%s", diff)
	}
}

func TestTheSchemaAcceptsWhatIsRight(t *testing.T) {
	schema := compiledSchema(t)
	right := map[string][]byte{"everything": []byte(everything), "least": []byte(least), "settable": []byte(settable), "searching": []byte(searching), "ramping": []byte(ramping), "claiming": []byte(claiming)}
	for name, data := range shipped(t) {
		right[name] = data
	}
	for name, data := range right {
		value, err := asJSON(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
