// Package shellwords splits a command line into words, without a shell.
package shellwords

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Split splits a command line as a shell does. Variables of the caller's environment are
// replaced, and one that is not set is an error; ${port} stays. It runs nothing.
func Split(line string) ([]string, error) {
	env := expand.ListEnviron(append(os.Environ(), "port=${port}")...)
	var parsed []*syntax.Word
	for word, err := range syntax.NewParser().WordsSeq(strings.NewReader(line)) {
		if err != nil {
			return nil, fmt.Errorf("read the command %q: %w", line, err)
		}
		parsed = append(parsed, word)
	}
	all, err := expand.Fields(&expand.Config{Env: env, NoUnset: true}, parsed...)
	var unset expand.UnsetParameterError
	switch {
	case errors.As(err, &unset):
		return nil, fmt.Errorf("the command %q has the variable %s, which is not set here: export it, or quote it", line, unset.Node.Param.Value)
	case err != nil:
		return nil, fmt.Errorf("read the command %q: %w", line, err)
	case len(all) == 0:
		return nil, fmt.Errorf("the command %q is empty", line)
	}
	return all, nil
}
