package captured

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// archive is what is read of a HAR file (http://www.softwareishard.com/blog/har-12-spec).
// Fields that begin with _ are of Chrome.
type archive struct {
	Log *struct {
		Entries []struct {
			Request *recorded `json:"request"`
			Cache   string    `json:"_fromCache"`
		} `json:"entries"`
	} `json:"log"`
}

type recorded struct {
	Method  string `json:"method"`
	URL     string `json:"url"`
	Headers []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"headers"`
	Post *posted `json:"postData"`
	Size int     `json:"bodySize"` // -1: not known
}

type posted struct {
	Type     string `json:"mimeType"`
	Text     string `json:"text"`
	Encoding string `json:"encoding"`
	Params   []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
		File  string `json:"fileName"`
	} `json:"params"`
}

// har reads a HAR file. Fields of another type than that of the specification count as
// absent, because tools differ in them.
func (c *collector) har(data []byte) error {
	var a archive
	if err := decode(data, &a); err != nil {
		return err
	}
	if a.Log == nil || a.Log.Entries == nil {
		return errors.New("it has no log.entries, so it is not a HAR file")
	}
	for _, one := range a.Log.Entries {
		switch {
		case one.Cache != "":
			c.skip("that the browser's cache answered")
		case one.Request == nil:
			c.skip("without a request")
		default:
			c.recorded(one.Request)
		}
	}
	return nil
}

func (c *collector) recorded(r *recorded) {
	e := &entry{method: r.Method, url: r.URL}
	length := int64(r.Size)
	compressed := false
	for _, h := range r.Headers {
		if strings.HasPrefix(h.Name, r.Method+" ") { // WebPageTest has the request line among the headers
			continue
		}
		e.headers = append(e.headers, header{h.Name, h.Value})
		switch strings.ToLower(h.Name) {
		case "content-length":
			if n, err := strconv.ParseInt(strings.TrimSpace(h.Value), 10, 64); err == nil {
				length = max(length, n)
			}
		case "content-encoding":
			compressed = true
		}
	}
	var why string
	if r.Post != nil {
		if e.body, why = r.Post.body(); why != "" {
			c.skip(why)
			return
		}
	}
	switch {
	case e.body == "" && length > 0:
		why = "whose body was not recorded"
	case e.body != "" && compressed:
		why = "with a compressed body"
	}
	if why == "" {
		c.add(e)
		return
	}
	if _, other := e.request(); other != "" { // it could not be sent with a body either
		why = other
	}
	c.skip(why)
}

// body is the body of a request: its text or, of a form, its parameters.
func (p *posted) body() (text, why string) {
	const binary = "with a body that is not text"
	switch {
	case p.Text != "" && p.Encoding == "base64":
		raw, err := base64.StdEncoding.DecodeString(p.Text)
		if err != nil {
			return "", "with a body that is not valid base64"
		}
		return string(raw), "" // what is not UTF-8 is skipped later
	case p.Text != "" && p.Encoding != "":
		return "", fmt.Sprintf("with a body in the encoding %q", cut(p.Encoding))
	case strings.ContainsRune(p.Text, '\uFFFD'): // Chrome writes it for bytes that are no text
		return "", binary
	case p.Text != "" || len(p.Params) == 0:
		return p.Text, ""
	case strings.HasPrefix(p.Type, "multipart/"):
		return "", "with a form of files, which was not recorded whole"
	}
	var pairs []string
	for _, param := range p.Params {
		pairs = append(pairs, url.QueryEscape(param.Name)+"="+url.QueryEscape(param.Value))
	}
	return strings.Join(pairs, "&"), ""
}

// hasLog reports whether JSON begins as a HAR file does.
func hasLog(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	if brace, err := d.Token(); err != nil || brace != json.Delim('{') {
		return false
	}
	name, err := d.Token()
	return err == nil && name == "log"
}

// decode reads JSON. Values of an unexpected type are left out; other errors have a line.
func decode(data []byte, to any) error {
	err := json.Unmarshal(data, to)
	var syntax *json.SyntaxError
	switch {
	case err == nil, errors.As(err, new(*json.UnmarshalTypeError)):
		return nil
	case errors.As(err, &syntax):
		before := data[:min(int64(len(data)), max(0, syntax.Offset))]
		return fmt.Errorf("line %d: it is not valid JSON: %w", 1+bytes.Count(before, []byte("\n")), err)
	}
	return fmt.Errorf("it is not valid JSON: %w", err)
}
