package file_test

import (
	"testing"

	"github.com/millicore/millicore/internal/experiment/file"
	"github.com/millicore/millicore/internal/testkit/golden"
)

const schemaFile = "../../../docs/experiment.schema.json"

func TestTheCommittedSchemaIsUpToDate(t *testing.T) {
	golden.File(t, schemaFile, string(file.Schema()))
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
