package memlimit

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	inGroup()
	os.Unsetenv("GOMEMLIMIT")
	os.Exit(m.Run())
}
