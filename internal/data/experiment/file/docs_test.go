package file_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment/file"
)

// The guides' experiments are right, and give the cells that it mentions.
func TestTheExperimentsOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../../docs/experiment-file.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docker.md", "kubernetes.md", "howto/databases.md"} {
		more, err := os.ReadFile("../../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		guide = append(append(guide, '\n'), more...)
	}
	schema := compiledSchema(t)
	cells := make(map[string]int)
	for i, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(guide, -1) {
		compose := func([]string, string) (map[string]any, []error) { return map[string]any{"image": "web"}, nil }
		e, err := file.ParseWith(fmt.Sprintf("block %d", i+1), block[1], nil, compose)
		if err != nil {
			t.Errorf("%v\n%s", err, block[1])
			continue
		}
		cells[e.Name] = len(e.Cells)
		value, err := asJSON(block[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	for name, want := range map[string]int{"cpu-limits-and-go": 4, "services": 2, "databases": 2, "actions": 1, "vary": 18 + 3, "ramp": 2, "stages": 1, "shop": 1, "search": 3, "compose": 2, "claims": 3, "claims-of-a-ramp": 2, "mine": 3, "on-a-cluster": 1} {
		if cells[name] != want {
			t.Errorf("%s has %d cells, want %d", name, cells[name], want)
		}
	}
}
