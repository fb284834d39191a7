package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/test/testkit"
)

// Commands that send load refuse SCHED_FIFO before they start anything.
func TestCommandsThatSendLoadRefuseFIFO(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	experiment := filepath.Join(t.TempDir(), "one.yaml")
	text := "name: one\nservices: {web: {command: [" + missing + "]}}\nload: {users: 1, request: {path: /}}\n"
	if err := os.WriteFile(experiment, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"load", "http://127.0.0.1:1/"},
		{"run", experiment},
		{"try", "--", missing},
		{"try", "--attach", "http://127.0.0.1:1/"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Chdir(t.TempDir())
			root := command()
			root.SetArgs(args)
			var err error
			testkit.UnderPolicy(t, unix.SCHED_FIFO, func() { err = root.ExecuteContext(t.Context()) })
			if err == nil || !strings.HasPrefix(err.Error(), "the scheduling policy is SCHED_FIFO") {
				t.Errorf("error %v, want that of the policy", err)
			}
		})
	}
}
