package captured

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"path"
	"strings"
)

// part is a part of a form of several parts (RFC 7578).
type part struct {
	name, content  string
	filename, kind string // "": none
}

// uploads are the content types that curl gives to files by their endings, and other files are
// application/octet-stream (https://curl.se/docs/manpage.html#-F).
var uploads = map[string]string{".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml",
	".txt": "text/plain", ".htm": "text/html", ".html": "text/html", ".pdf": "application/pdf", ".xml": "application/xml"}

// form reads -F: name=content, name=@FILE for an upload, or name=<FILE for its content, each with
// ;type= or ;filename= behind it.
func (c *command) form(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("want name=content, name=@FILE or name=<FILE")
	}
	p := part{name: name}
	for {
		i := strings.LastIndexByte(value, ';')
		key, set, _ := strings.Cut(value[i+1:], "=")
		switch set = strings.Trim(set, `"`); {
		case i >= 0 && strings.TrimSpace(key) == "type":
			p.kind = set
		case i >= 0 && strings.TrimSpace(key) == "filename":
			p.filename = set
		default:
			return c.formPart(p, value)
		}
		value = value[:i]
	}
}

func (c *command) formPart(p part, value string) error {
	file := strings.TrimLeft(value, "@<")
	switch {
	case len(value) == 0 || value[0] != '@' && value[0] != '<':
		p.content = strings.Trim(value, `"`)
		c.parts = append(c.parts, p)
		return nil
	case file == "" || file == "-":
		return errNoFile
	}
	content, err := c.files(strings.Trim(file, `"`))
	if err != nil {
		return err
	}
	if p.content = string(content); value[0] == '@' {
		p.filename = cmp.Or(p.filename, path.Base(strings.ReplaceAll(file, `\`, "/")))
		p.kind = cmp.Or(p.kind, uploads[strings.ToLower(path.Ext(file))], "application/octet-stream")
	}
	c.parts = append(c.parts, p)
	return nil
}

// formString reads --form-string, whose content is sent as it is.
func (c *command) formString(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("want name=content")
	}
	c.parts = append(c.parts, part{name: name, content: value})
	return nil
}

// multiparts is a form of several parts, and its content type. The boundary is the same for the
// same parts, so that equal requests are one.
func multiparts(parts []part) (body, kind string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	sum := sha256.Sum256(fmt.Append(nil, parts))
	_ = w.SetBoundary(fmt.Sprintf("------------------------%x", sum[:11])) // it is a valid one
	quote := strings.NewReplacer(`\`, `\\`, `"`, "%22", "\r", "%0D", "\n", "%0A").Replace
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name="%s"`, quote(p.name))
		if p.filename != "" {
			disposition += fmt.Sprintf(`; filename="%s"`, quote(p.filename))
		}
		h.Set("Content-Disposition", disposition)
		if p.kind != "" {
			h.Set("Content-Type", p.kind)
		}
		to, _ := w.CreatePart(h) // in memory
		_, _ = to.Write([]byte(p.content))
	}
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}
