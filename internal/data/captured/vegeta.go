package captured

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	// targetLine begins a target: GET http://host/path.
	targetLine  = regexp.MustCompile(`^[A-Z]+\s`)
	firstTarget = regexp.MustCompile(`(?m)^[A-Z]+\s+(https?:/)?/`)
)

// targets reads targets of vegeta in one of its formats
// (https://github.com/tsenart/vegeta#-format).
func (c *collector) targets(data []byte) error {
	if text := bytes.TrimSpace(data); text[0] == '{' {
		return c.targetsJSON(data)
	}
	lines := strings.Split(string(data), "\n")
	var e *entry
	flush := func() {
		if e != nil {
			c.add(e)
		}
		e = nil
	}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		at := func(format string, args ...any) error {
			return fmt.Errorf("line %d: "+format, append([]any{i + 1}, args...)...)
		}
		switch {
		case line == "":
			flush()
		case line[0] == '#':
		case targetLine.MatchString(line):
			flush()
			method, url, _ := strings.Cut(line, " ")
			if e = (&entry{method: method, url: strings.TrimSpace(url)}); strings.ContainsAny(e.url, " \t") {
				return at("a target is METHOD URL, as in GET http://127.0.0.1:8080/items; a URL has no spaces")
			}
		case e == nil:
			return at("%q is not a target; write METHOD URL, as in GET http://127.0.0.1:8080/items", cut(line))
		case line[0] == '@':
			if e.file = strings.TrimSpace(line[1:]); e.file == "" {
				return at("@ names no file; write @body.json")
			}
		default:
			name, value, ok := strings.Cut(line, ":")
			if name = strings.TrimSpace(name); !ok || name == "" {
				return at("%q is neither a header, as in Accept: text/html, nor the file of a body, as in @body.json", cut(name))
			}
			e.headers = append(e.headers, header{name, value})
		}
	}
	flush()
	return nil
}

// targetJSON is a target in vegeta's JSON format. Body is in base64.
type targetJSON struct {
	Method string              `json:"method"`
	URL    string              `json:"url"`
	Body   string              `json:"body"`
	Header map[string][]string `json:"header"`
}

// vegetaLine reports whether a line of JSON is a target: it has a header, and lines of
// Millicore have headers.
func vegetaLine(line []byte) bool {
	var keys map[string]json.RawMessage
	if json.Unmarshal(line, &keys) != nil {
		return false
	}
	_, path := keys["path"]
	_, headers := keys["headers"]
	_, weight := keys["weight"]
	_, header := keys["header"]
	return header && !path && !headers && !weight
}

func (c *collector) targetsJSON(data []byte) error {
	return eachLine(data, func(n int, line []byte) error {
		var t targetJSON
		if err := decodeLine(n, line, &t); err != nil {
			return err
		}
		if t.Method == "" || t.URL == "" {
			return fmt.Errorf("line %d: a target needs a method and a url", n)
		}
		raw, err := base64.StdEncoding.DecodeString(t.Body)
		if err != nil {
			return fmt.Errorf("line %d: the body is not base64", n)
		}
		e := &entry{method: t.Method, url: t.URL, body: string(raw)}
		for _, name := range sortedKeys(t.Header) {
			for _, value := range t.Header[name] {
				e.headers = append(e.headers, header{name, value})
			}
		}
		c.add(e)
		return nil
	})
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// eachLine calls read with the lines that are not empty, and their numbers.
func eachLine(data []byte, read func(n int, line []byte) error) error {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := read(n, line); err != nil {
			return err
		}
	}
	return nil
}

// decodeLine reads one JSON object.
func decodeLine(n int, line []byte, to any) error {
	if line[0] != '{' {
		return fmt.Errorf("line %d: want one JSON object on each line; this one begins with %q", n, cut(string(line)))
	}
	if err := json.Unmarshal(line, to); err != nil {
		return fmt.Errorf("line %d: want one JSON object on each line: %w", n, err)
	}
	return nil
}
