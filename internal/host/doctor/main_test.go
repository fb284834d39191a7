package doctor_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// mapped is the variable by which a test starts this program as a process that maps a file.
const mapped = "MILLICORE_TEST_MAPS"

// reading is the variable by which a test starts this program as one that uses a file for as
// long as it runs: "mapped:FILE" or "cached:FILE".
const reading = "MILLICORE_TEST_READS"

// growing is the variable by which a test starts this program as one that uses so many bytes of
// memory, and one page after the other until then: "READY:IN ALL".
const growing = "MILLICORE_TEST_GROWS"

func TestMain(m *testing.M) {
	if use, name, ok := strings.Cut(os.Getenv(reading), ":"); ok {
		if err := readFile(name, use == "mapped"); err != nil {
			fmt.Println(err)
		}
		os.Exit(1)
	}
	if sizes := os.Getenv(growing); sizes != "" {
		fmt.Println(grow(sizes))
		os.Exit(1)
	}
	if name := os.Getenv(mapped); name != "" {
		if err := mapFile(name); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("ready")
		time.Sleep(time.Hour) // it is killed
	}
	os.Exit(m.Run())
}
