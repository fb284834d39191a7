package file_test

import (
	"encoding/json"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/test/testkit/golden"
)

const schemaFile = "../../../../docs/experiment.schema.json"

func TestTheCommittedSchemaIsUpToDate(t *testing.T) {
	golden.File(t, schemaFile, string(file.Schema()))
}

// Editors show the description of each key.
func TestEveryKeyIsDescribed(t *testing.T) {
	var schema any
	if err := json.Unmarshal(file.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	keys := 0
	var visit func(path string, value any)
	visit = func(path string, value any) {
		switch v := value.(type) {
		case []any:
			for _, one := range v {
				visit(path, one)
			}
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for key, one := range properties {
				// What only excludes other keys has no types of its own.
				if property := one.(map[string]any); v["type"] != nil {
					keys++
					if property["description"] == nil {
						t.Errorf("%s.%s has no description", path, key)
					}
				}
				visit(path+"."+key, one)
			}
			for key, one := range v {
				if key != "properties" {
					visit(path, one)
				}
			}
		}
	}
	visit("", schema)
	if keys < 100 {
		t.Errorf("only %d keys were found", keys)
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
