package experiment

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Supplies are the parts of a request that come from outside of the experiment
// file: read once, before anything is started.
type Supplies struct {
	Body          []byte `json:"body"`                    // of BodyFile; nil without one
	Authorization string `json:"authorization,omitempty"` // the header's value; empty without Auth
}

// largestBody is the size limit of a body in bytes.
const largestBody = 32 << 20

// Gather reads what the requests of all cells need from outside: files, relative
// to dir, and environment variables. An error names what is missing.
func (e *Experiment) Gather(dir string, getenv func(string) string) error {
	files := map[string][]byte{} // what several cells send is read, and kept, once
	for i := range e.Cells {
		l := &e.Cells[i].Load
		if l.Benchmark {
			continue
		}
		for j := range l.Mix {
			if err := l.Mix[j].gather(dir, getenv, files); err != nil {
				return err
			}
		}
		if err := l.Request.gather(dir, getenv, files); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) gather(dir string, getenv func(string) string, files map[string][]byte) error {
	if name := r.BodyFile; name != "" {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if files[name] == nil {
			body, err := readBody(name)
			if err != nil {
				return fmt.Errorf("request %s %s: read body_file: %w", r.Method, r.Path, err)
			}
			files[name] = body
		}
		r.Supplies.Body = files[name]
	}
	if r.Auth == nil {
		return nil
	}
	name := r.Auth.Basic + r.Auth.Bearer
	secret := getenv(name)
	switch {
	case secret == "":
		return fmt.Errorf("request %s %s: auth: the variable %s is not set", r.Method, r.Path, name)
	case strings.ContainsFunc(secret, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return fmt.Errorf("request %s %s: auth: %s contains a control character, such as the end of a line", r.Method, r.Path, name)
	case r.Auth.Bearer != "":
		r.Supplies.Authorization = "Bearer " + secret
	case !strings.Contains(secret, ":"):
		return fmt.Errorf("request %s %s: auth: %s is not user:password", r.Method, r.Path, name)
	default:
		r.Supplies.Authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(secret))
	}
	return nil
}

func readBody(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largestBody {
		return nil, fmt.Errorf("%s: expected a file of at most %d MiB", name, largestBody>>20)
	}
	body, err := os.ReadFile(name)
	if body == nil {
		body = []byte{}
	}
	return body, err
}
