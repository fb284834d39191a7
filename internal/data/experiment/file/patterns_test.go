package file

import (
	"regexp"
	"testing"
)

// Expressions are compiled when a value of their kind is read, so a wrong one shows here.
func TestPatternsAreValid(t *testing.T) {
	for name, k := range kinds {
		if _, err := regexp.Compile(k.pattern); err != nil {
			t.Errorf("kind %s: %v", name, err)
		}
	}
}
