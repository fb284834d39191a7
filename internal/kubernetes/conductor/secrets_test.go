package conductor

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment/file"
)

// The ConfigMap has the experiment without its secrets, the Secret what was given.
func TestExperimentWithSecretsIsReadFromTheSecret(t *testing.T) {
	const text = "name: short\nservices: {web: {image: web, env: {TOKEN: Mark3r-literal}}}\nload: {request: {path: /}, users: 1}\n"
	e, err := file.Parse("short.yaml", []byte(text), []string{"services.web.env.A_KEY=Mark3r-set"})
	if err != nil {
		t.Fatal(err)
	}
	supplies, err := json.Marshal(e.InputSet())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(ExperimentFile, e.Source)
	write(SuppliesFile, string(supplies))
	c := &conductor{options: Options{Dir: dir}, run: Spec{File: "short.yaml", Sets: e.Sets}}
	got, err := c.experiment()
	if err != nil {
		t.Fatal(err)
	}
	env := got.Cells[0].Service.Env
	if env["TOKEN"] != "Mark3r-literal" || env["A_KEY"] != "Mark3r-set" || got.Source != e.Source || strings.Contains(got.Source, "Mark3r") {
		t.Errorf("%v\n%s", env, got.Source)
	}
	write(SuppliesFile, "{}")
	if _, err := c.experiment(); err == nil || !strings.Contains(err.Error(), "this value was hidden") {
		t.Errorf("without the Secret: %v", err)
	}
}
