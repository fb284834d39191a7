package captured

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment/spelling"
)

// lineKeys are the keys of a line, and stepKeys those of a step of a session.
var (
	lineKeys = []string{"method", "path", "url", "headers", "body", "name", "check", "weight"}
	stepKeys = append(slices.Clone(lineKeys[:len(lineKeys)-1]), "think", "capture")
)

// lines reads JSON with one request a line. Its keys and its placeholders are those of an
// experiment's mix, but for url, which may stand in place of path.
func (c *collector) lines(data []byte) error {
	known := lineKeys
	if c.steps {
		known = stepKeys
	}
	return eachLine(data, func(n int, line []byte) error {
		var keys map[string]json.RawMessage
		if err := decodeLine(n, line, &keys); err != nil {
			return err
		}
		for _, key := range sortedKeys(keys) {
			switch {
			case slices.Contains(known, key):
			case slices.Contains(stepKeys, key):
				return fmt.Errorf("line %d: %s is for a step of a session; use --session", n, key)
			default:
				return fmt.Errorf("line %d: unknown key %q; %s", n, cut(key), spelling.Hint(key, "keys", known))
			}
		}
		e, err := readLine(keys)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		c.add(e)
		return nil
	})
}

// ownLine reports whether a line is one object with a path or a url.
func ownLine(line []byte) bool {
	var keys map[string]json.RawMessage
	err := json.Unmarshal(line, &keys)
	_, path := keys["path"]
	_, url := keys["url"]
	return err == nil && (path || url)
}

func readLine(keys map[string]json.RawMessage) (*entry, error) {
	e := &entry{own: true}
	var path string
	headers := map[string]json.RawMessage{}
	for _, field := range []struct {
		key  string
		to   any
		want string
	}{
		{"method", &e.method, "a text"},
		{"path", &path, "a text"},
		{"url", &e.url, "a text"},
		{"body", &e.body, "a text; write JSON as a text, as in \"{\\\"id\\\": 7}\""},
		{"weight", &e.weight, "a whole number from 1"},
		{"name", &e.name, "a text"},
		{"headers", &headers, "an object with texts"},
		{"check", &e.check, "an object, as in {\"status\": [302]}"},
		{"think", &e.think, "a duration as a text, as in \"2s\""},
		{"capture", &e.capture, "an object with texts, as in {\"token\": \"json:$.token\"}"},
	} {
		raw, given := keys[field.key]
		if given && json.Unmarshal(raw, field.to) != nil {
			return nil, fmt.Errorf("%s: want %s, not %s", field.key, field.want, cut(string(raw)))
		}
	}
	_, weighted := keys["weight"]
	switch {
	case path == "" && e.url == "":
		return nil, errors.New("a request needs a path or a url")
	case path != "" && e.url != "":
		return nil, errors.New("path and url exclude each other; keep one")
	case path != "" && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "{{"):
		return nil, fmt.Errorf("%q: a path begins with /", cut(path))
	case weighted && (e.weight < 1 || e.weight > mostWeight):
		return nil, fmt.Errorf("weight: want a whole number from 1 to %d, not %d", mostWeight, e.weight)
	}
	if path != "" {
		e.url = path
	}
	for _, name := range sortedKeys(headers) {
		var value any
		_ = json.Unmarshal(headers[name], &value) // it was valid
		switch v := value.(type) {
		case string:
			e.headers = append(e.headers, header{name, v})
		case float64, bool:
			e.headers = append(e.headers, header{name, string(headers[name])})
		default:
			return nil, fmt.Errorf("headers: %s: want a text", cut(name))
		}
	}
	return e, nil
}
