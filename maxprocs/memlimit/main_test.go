package memlimit

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	inGroup()
	os.Unsetenv("GOMEMLIMIT")
	os.Unsetenv(HeadroomVariable)
	os.Exit(m.Run())
}
