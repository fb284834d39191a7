package traffic

import (
	"fmt"
	"strings"
)

// SplitBody splits the value of a flag for a body: it is the body itself, or @FILE, the name
// of a file with the body, which is sent unchanged.
func SplitBody(flag, value string) (text, file string, err error) {
	name, isFile := strings.CutPrefix(value, "@")
	switch {
	case isFile && name == "":
		return "", "", fmt.Errorf(`%s @: want the name of a file, as in @body.json; for the text @ write {{"@"}}`, flag)
	case isFile:
		return "", name, nil
	}
	return value, "", nil
}

// MethodOf is the method of requests: the one that was set, otherwise POST if they have a
// body, as with curl. "" is the default of experiments.
func MethodOf(set string, body bool) string {
	if set == "" && body {
		return "POST"
	}
	return strings.ToUpper(set)
}
