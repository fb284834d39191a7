package maxprocs

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	inGroup()
	os.Unsetenv("GOMAXPROCS")
	os.Exit(m.Run())
}
