package auto

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/millicore/millicore/maxprocs"
)

func TestMain(m *testing.M) {
	inGroup()
	os.Exit(m.Run())
}

// do is what a test has done in a process that has just imported the package.
func do(line string) string {
	switch line {
	case "result":
		r := Result()
		return fmt.Sprintf("%d -> %d, %v, following %v", r.Before, r.After, r.Why, r.Following)
	case "undo":
		Undo()
	}
	return fmt.Sprint(runtime.GOMAXPROCS(0))
}

func TestResult(t *testing.T) {
	_, set := os.LookupEnv("GOMAXPROCS")
	if r := Result(); r.After != runtime.GOMAXPROCS(0) || set != (r.Why == maxprocs.Environment) {
		t.Errorf("got %+v with GOMAXPROCS %d", r, runtime.GOMAXPROCS(0))
	}
}
