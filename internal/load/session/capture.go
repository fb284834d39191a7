package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/theory/jsonpath"
)

// capture is a value in an answer.
type capture struct {
	index  int // of its name
	header []byte
	path   *jsonpath.Path
	regex  *regexp.Regexp
}

// forms are the forms of a capture, for messages.
const forms = "json:$.path, header:NAME or regex:TEXT"

// parseCapture parses where a value is in an answer:
//
//	json:$.items[0].id   the first value in a body of JSON (RFC 9535)
//	header:Location      the value of a header
//	regex:name="(.*?)"   what the first group matches in the body, or the whole expression
func parseCapture(text string) (c capture, err error) {
	kind, where, _ := strings.Cut(text, ":")
	switch where = strings.TrimSpace(where); {
	case where == "":
		return c, fmt.Errorf("%q: want %s", text, forms)
	case kind == "json":
		c.path, err = jsonpath.Parse(where)
	case kind == "regex":
		c.regex, err = regexp.Compile(where)
	case kind == "header":
		c.header = []byte(where)
	default:
		err = errors.New("want " + forms)
	}
	if err != nil {
		return c, fmt.Errorf("%q: %w", text, err)
	}
	return c, nil
}

// from is the value in an answer with these lines in its head.
func (c *capture) from(head, body []byte) (value string, ok bool) {
	switch {
	case c.path != nil:
		return fromJSON(c.path, body)
	case c.regex != nil:
		found := c.regex.FindSubmatch(body)
		if found == nil {
			return "", false
		}
		return string(found[min(1, len(found)-1)]), true
	}
	for line := range bytes.SplitSeq(head, newline) {
		name, text, _ := bytes.Cut(line, colon)
		switch {
		case !bytes.EqualFold(name, c.header):
		case ok:
			value += ", " + string(bytes.TrimSpace(text))
		default:
			value, ok = string(bytes.TrimSpace(text)), true
		}
	}
	return value, ok
}

// fromJSON is the first value at a path: a text without its quotes, others as JSON. A null is
// none.
func fromJSON(path *jsonpath.Path, body []byte) (string, bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // an id of 64 bits keeps its digits
	var root any
	if decoder.Decode(&root) != nil {
		return "", false
	}
	found := path.Select(root)
	if len(found) == 0 || found[0] == nil {
		return "", false
	}
	switch v := found[0].(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	text, err := json.Marshal(found[0])
	return string(text), err == nil
}
