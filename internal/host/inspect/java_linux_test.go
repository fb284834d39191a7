package inspect

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/test/testkit"
)

// startJava starts a JVM that waits.
func startJava(t *testing.T, options ...string) int {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("java is not installed")
	}
	source := filepath.Join(t.TempDir(), "Wait.java")
	const text = `public class Wait {
  public static void main(String[] a) throws Exception {
    System.out.println("ready");
    Thread.sleep(600000);
  }
}
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(java, append(options, source)...)
	testkit.StartReady(t, cmd, "ready")
	return cmd.Process.Pid
}
