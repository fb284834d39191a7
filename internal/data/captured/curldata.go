package captured

import (
	"errors"
	"net/url"
	"strings"
)

var (
	errNoFile = errors.New("standard input is not read; name a file")
	// lineEnds removes what curl removes of the file of -d @FILE.
	lineEnds = strings.NewReplacer("\r", "", "\n", "", "\x00", "")
)

// post adds data to the body, after a separator.
func (c *command) post(value, between string, files, unchanged bool) error {
	if c.file != "" {
		return errors.New("other data cannot follow a file")
	}
	if files && strings.HasPrefix(value, "@") {
		name := value[1:]
		switch {
		case name == "" || name == "-":
			return errNoFile
		case !unchanged:
			content, err := c.files(name)
			if err != nil {
				return err
			}
			value = lineEnds.Replace(string(content))
		case c.hasData:
			return errors.New("a file cannot follow other data")
		default:
			c.file, c.hasData = name, true
			return nil
		}
	}
	if len(c.data) > 0 {
		c.data = append(c.data, between...)
	}
	c.data, c.hasData = append(c.data, value...), true
	return nil
}

// urlencoded is a value of --data-urlencode: content, =content, name=content, or the file of
// @FILE or name@FILE.
func (c *command) urlencoded(value string) (string, error) {
	i := strings.IndexAny(value, "=@")
	switch {
	case i < 0:
		return url.QueryEscape(value), nil
	case value[i] == '@' && (value[i+1:] == "" || value[i+1:] == "-"):
		return "", errNoFile
	case value[i] == '@':
		content, err := c.files(value[i+1:])
		name := value[:i]
		if i > 0 {
			name += "="
		}
		return name + url.QueryEscape(string(content)), err
	case i == 0:
		return url.QueryEscape(value[1:]), nil
	}
	return value[:i+1] + url.QueryEscape(value[i+1:]), nil
}

func (c *command) encoded(value string) error {
	text, err := c.urlencoded(value)
	if err != nil {
		return err
	}
	return c.post(text, "&", false, false)
}

func (c *command) addQuery(value string) error {
	if raw, ok := strings.CutPrefix(value, "+"); ok {
		c.query = append(c.query, raw)
		return nil
	}
	text, err := c.urlencoded(value)
	c.query = append(c.query, text)
	return err
}
