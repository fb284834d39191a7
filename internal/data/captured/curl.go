package captured

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment/spelling"
)

// command is a curl command while its flags are read (https://curl.se/docs/manpage.html).
type command struct {
	e        entry
	urls     []word
	query    []string // of --url-query
	data     []byte
	hasData  bool
	file     string // of --data-binary @FILE; "": none
	parts    []part // of -F
	files    Files
	json     bool
	get      bool // -G
	head     bool // -I
	glob     bool // patterns in URLs
	cookies  []string
	user     string // of -u
	hasUser  bool
	bearer   string
	agent    *string // of -A
	referer  string
	removed  []string // headers of "Name:", in lower case
	unused   func(what string)
	position place // of the flag that is read
}

// flag is how a flag of curl is read. do is nil if it has no effect on the request.
type flag struct {
	value bool // it has one
	do    func(c *command, value string) error
	why   string // why it is refused; "": it is not
	own   bool   // load has a flag of its own for this, so it is named
}

// shorts are the long names of the flags of one letter.
var shorts = map[byte]string{
	'X': "request", 'H': "header", 'd': "data", 'G': "get", 'I': "head", 'A': "user-agent", 'e': "referer", 'b': "cookie", 'u': "user", 'r': "range",
	'k': "insecure", 'L': "location", 's': "silent", 'S': "show-error", 'i': "include", 'v': "verbose", 'o': "output", 'O': "remote-name", 'J': "remote-header-name",
	'f': "fail", 'N': "no-buffer", 'g': "globoff", '#': "progress-bar", 'w': "write-out", 'm': "max-time", 'D': "dump-header", 'c': "cookie-jar", 'R': "remote-time",
	'4': "ipv4", '6': "ipv6", '0': "http1.0", '1': "tlsv1", 'Z': "parallel", 'q': "disable", 'j': "junk-session-cookies", 'y': "speed-time", 'Y': "speed-limit",
	'F': "form", 'T': "upload-file", 'K': "config", 'x': "proxy", 'U': "proxy-user", 'E': "cert", 'n': "netrc", ':': "next", 'z': "time-cond", 'C': "continue-at", 'a': "append", 'p': "proxytunnel",
}

// flags are the known flags by their long names.
var flags = map[string]flag{
	"request":         {value: true, do: func(c *command, v string) error { c.e.method = v; return nil }},
	"header":          {value: true, do: (*command).header},
	"data":            {value: true, do: func(c *command, v string) error { return c.post(v, "&", true, false) }},
	"data-ascii":      {value: true, do: func(c *command, v string) error { return c.post(v, "&", true, false) }},
	"data-binary":     {value: true, do: func(c *command, v string) error { return c.post(v, "&", true, true) }},
	"data-raw":        {value: true, do: func(c *command, v string) error { return c.post(v, "&", false, false) }},
	"data-urlencode":  {value: true, do: (*command).encoded},
	"json":            {value: true, do: func(c *command, v string) error { c.json = true; return c.post(v, "", true, true) }},
	"get":             {do: func(c *command, _ string) error { c.get = true; return nil }},
	"head":            {do: func(c *command, _ string) error { c.head = true; return nil }},
	"user-agent":      {value: true, do: func(c *command, v string) error { c.agent = &v; return nil }},
	"referer":         {value: true, do: func(c *command, v string) error { c.referer = strings.TrimSuffix(v, ";auto"); return nil }},
	"cookie":          {value: true, do: (*command).cookie},
	"user":            {value: true, do: func(c *command, v string) error { c.user, c.hasUser = v, true; return nil }},
	"oauth2-bearer":   {value: true, do: func(c *command, v string) error { c.bearer = v; return nil }},
	"url":             {value: true, do: func(c *command, v string) error { c.urls = append(c.urls, word{v, c.position}); return nil }},
	"url-query":       {value: true, do: (*command).addQuery},
	"range":           {value: true, do: (*command).byteRange},
	"globoff":         {do: func(c *command, _ string) error { c.glob = false; return nil }},
	"insecure":        {own: true},
	"location":        {own: true},
	"http2":           {own: true},
	"max-time":        {value: true, own: true},
	"connect-timeout": {value: true, own: true},
	"cacert":          {value: true, own: true},
	"cert":            {value: true, own: true},
	"key":             {value: true, own: true},
	"connect-to":      {value: true, own: true},
	"unix-socket":     {value: true, own: true},
	"form":            {value: true, do: (*command).form},
	"form-string":     {value: true, do: (*command).formString},
	"upload-file":     {value: true, why: "a file is not sent; use --data-binary @FILE with -X PUT"},
	"config":          {value: true, why: "a file of flags is not read; write them into the command"},
	"resolve":         {value: true, why: "addresses are not replaced; write the address into the URL"},
	"proxy":           {value: true, why: "requests are not sent by a proxy"},
	"proxy-user":      {value: true, why: "requests are not sent by a proxy"},
	"proxytunnel":     {why: "requests are not sent by a proxy"},
	"netrc":           {why: "no file of passwords is read; use -u"},
	"digest":          {why: "only basic authentication and bearer tokens are sent"},
	"ntlm":            {why: "only basic authentication and bearer tokens are sent"},
	"negotiate":       {why: "only basic authentication and bearer tokens are sent"},
	"anyauth":         {why: "only basic authentication and bearer tokens are sent"},
	"aws-sigv4":       {value: true, why: "requests are not signed"},
	"next":            {why: "write each request as a curl command of its own"},
	"time-cond":       {value: true, why: "no file is looked at; use -H 'If-Modified-Since: …'"},
	"continue-at":     {value: true, why: "no download is continued; use -r"},
}

func init() {
	for _, name := range []string{
		"silent", "show-error", "include", "verbose", "remote-name", "remote-name-all", "remote-header-name", "remote-time", "fail", "fail-with-body", "fail-early",
		"no-buffer", "progress-bar", "no-progress-meter", "compressed", "compressed-ssh", "tr-encoding", "path-as-is", "tcp-nodelay", "tcp-fastopen", "raw", "basic",
		"ipv4", "ipv6", "http0.9", "http1.0", "http1.1", "http2-prior-knowledge", "http3", "http3-only", "tlsv1", "tlsv1.0", "tlsv1.1", "tlsv1.2", "tlsv1.3", "parallel", "disable",
		"junk-session-cookies", "no-keepalive", "keepalive", "no-sessionid", "location-trusted", "post301", "post302", "post303", "create-dirs", "no-alpn", "no-npn",
		"ssl-reqd", "trace-time", "trace-ids", "styled-output", "no-clobber", "skip-existing", "append", "retry-all-errors", "retry-connrefused", "show-headers",
	} {
		flags[name] = flag{}
	}
	for _, name := range []string{
		"output", "output-dir", "write-out", "dump-header", "cookie-jar", "retry", "retry-delay", "retry-max-time", "max-redirs", "limit-rate", "rate", "trace", "trace-ascii", "stderr",
		"speed-time", "speed-limit", "keepalive-time", "max-filesize", "parallel-max", "interface", "local-port", "ciphers", "tls13-ciphers", "tls-max", "curves", "etag-save", "expect100-timeout", "happy-eyeballs-timeout-ms",
	} {
		flags[name] = flag{value: true}
	}
}

// curl reads commands of curl.
func (c *collector) curl(text string) error {
	all, err := commands(text)
	if err != nil {
		return err
	}
	for _, words := range all {
		if len(words) > 1 && words[0].text == "$" { // a prompt
			words = words[1:]
		}
		if name := strings.ToLower(path.Base(strings.ReplaceAll(words[0].text, `\`, "/"))); name != "curl" && name != "curl.exe" {
			return fmt.Errorf("%v: %q is not curl; copy the request as cURL", words[0].at, cut(words[0].text))
		}
		one := command{glob: true, unused: c.unused, files: c.files}
		if err := one.read(words[1:]); err != nil {
			return err
		}
		if len(one.urls) == 0 {
			return fmt.Errorf("%v: the command has no URL", words[0].at)
		}
		for _, url := range one.urls {
			e, err := one.entry(url)
			if err != nil {
				return fmt.Errorf("%v: %w", url.at, err)
			}
			c.add(e)
		}
	}
	return nil
}

// read reads the words of a command.
func (c *command) read(words []word) error {
	for len(words) > 0 {
		w := words[0]
		words = words[1:]
		c.position = w.at
		switch {
		case w.text == "--":
			c.urls = append(c.urls, words...)
			return nil
		case strings.HasPrefix(w.text, "--"):
			name := w.text[2:]
			f, known := flags[name]
			if plain, no := strings.CutPrefix(name, "no-"); !known && no && !flags[plain].value {
				if _, known = flags[plain]; known {
					continue // of a switch that is then at its default
				}
			}
			if !known {
				return fmt.Errorf("%v: %s", w.at, unknownFlag(name))
			}
			value := ""
			if f.value {
				if len(words) == 0 {
					return fmt.Errorf("%v: --%s has no value", w.at, name)
				}
				value, words = words[0].text, words[1:]
			}
			if err := c.apply(f, "--"+name, value); err != nil {
				return err
			}
		case len(w.text) > 1 && w.text[0] == '-':
			var err error
			if words, err = c.letters(w, words); err != nil {
				return err
			}
		default:
			c.urls = append(c.urls, w)
		}
	}
	return nil
}

func unknownFlag(name string) string {
	plain, _, assigned := strings.Cut(name, "=")
	if _, known := flags[plain]; assigned && known {
		return fmt.Sprintf("--%s has its value behind =; write them as two words", plain)
	}
	var names []string
	for one := range flags {
		names = append(names, one)
	}
	slices.Sort(names)
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf("--%s is not understood; did you mean --%s?", cut(name), near)
	}
	return fmt.Sprintf("--%s is not understood; leave it out if the request does not need it", cut(name))
}

// letters reads flags of one letter each, of which the last may have its value behind it, and
// returns the words after them.
func (c *command) letters(w word, words []word) ([]word, error) {
	for i := 1; i < len(w.text); i++ {
		name, known := shorts[w.text[i]]
		if !known {
			return nil, fmt.Errorf("%v: -%s is not understood; leave it out if the request does not need it", w.at, cut(w.text[i:i+1]))
		}
		f, shown := flags[name], "-"+w.text[i:i+1]
		if !f.value {
			if err := c.apply(f, shown, ""); err != nil {
				return nil, err
			}
			continue
		}
		value := w.text[i+1:]
		if value == "" {
			if len(words) == 0 {
				return nil, fmt.Errorf("%v: %s has no value", w.at, shown)
			}
			value, words = words[0].text, words[1:]
		}
		return words, c.apply(f, shown, value)
	}
	return words, nil
}

func (c *command) apply(f flag, shown, value string) error {
	switch {
	case f.why != "":
		return fmt.Errorf("%v: %s: %s", c.position, shown, f.why)
	case f.own:
		c.unused(shown)
	case f.do != nil:
		if err := f.do(c, value); err != nil {
			return fmt.Errorf("%v: %s: %w", c.position, shown, err)
		}
	}
	return nil
}

// header reads -H: "Name: value"; "Name;" of a header without a value; "Name:", which removes
// one of curl's own.
func (c *command) header(text string) error {
	if strings.HasPrefix(text, "@") {
		return errors.New("a file of headers is not read; write each with -H")
	}
	name, value, ok := strings.Cut(text, ":")
	if before, empty := strings.CutSuffix(strings.TrimSpace(text), ";"); !ok && empty {
		c.e.headers = append(c.e.headers, header{before, ""})
		return nil
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !ok || name == "" && !strings.HasPrefix(text, ":"):
		return errors.New("want 'Name: value'")
	case value == "":
		c.removed = append(c.removed, strings.ToLower(name))
	case strings.EqualFold(name, "Host"):
		c.unused("-H Host")
	default:
		c.e.headers = append(c.e.headers, header{name, value})
	}
	return nil
}

// byteRange reads -r; a number alone is where the range begins.
func (c *command) byteRange(value string) error {
	if !strings.Contains(value, "-") {
		value += "-"
	}
	return c.header("Range: bytes=" + value)
}

func (c *command) cookie(value string) error {
	if !strings.Contains(value, "=") {
		return errors.New("a file of cookies is not read; write them as name=value")
	}
	c.cookies = append(c.cookies, value)
	return nil
}

// entry is the request of a command to one of its URLs.
func (c *command) entry(url word) (*entry, error) {
	e := c.e
	e.headers = slices.Clone(c.e.headers)
	if e.url = url.text; !scheme.MatchString(e.url) || !strings.Contains(e.url, "://") {
		e.url = "http://" + e.url
	}
	_, after, _ := strings.Cut(e.url, "://")
	if i := strings.IndexAny(after, "/?"); c.glob && (strings.ContainsAny(after, "{}") || i >= 0 && strings.ContainsAny(after[i:], "[]")) {
		return nil, errors.New("the URL is a pattern of several; write each as a URL, or use -g")
	}
	query := c.query
	switch {
	case len(c.parts) > 0 && (c.hasData || c.get):
		return nil, errors.New("-F excludes -d and -G; keep one")
	case len(c.parts) > 0:
		var kind string
		e.body, kind = multiparts(c.parts)
		e.headers = append([]header{{"Content-Type", kind}}, slices.DeleteFunc(e.headers, func(h header) bool { return strings.EqualFold(h.name, "Content-Type") })...)
	case c.get && c.file != "":
		return nil, errors.New("with -G a file is not sent; write the data into the command")
	case c.get && len(c.data) > 0:
		query = append(slices.Clone(query), string(c.data))
	case !c.get && c.hasData:
		e.body, e.file = string(c.data), c.file
	}
	e.url = withQuery(e.url, query)
	if e.method == "" {
		switch {
		case c.head:
			e.method = "HEAD"
		case c.hasData && !c.get, len(c.parts) > 0:
			e.method = "POST"
		}
	}
	return &e, c.complete(&e)
}

// withQuery appends parts to the query of a URL.
func withQuery(url string, parts []string) string {
	if len(parts) == 0 {
		return url
	}
	url, _, _ = strings.Cut(url, "#")
	between := "?"
	if strings.Contains(url, "?") {
		between = "&"
	}
	return url + between + strings.Join(parts, "&")
}

// complete adds the headers that flags stand for.
func (c *command) complete(e *entry) error {
	add := func(name, value string) {
		has := func(h header) bool { return strings.EqualFold(h.name, name) }
		if value != "" && !slices.ContainsFunc(e.headers, has) && !slices.Contains(c.removed, strings.ToLower(name)) {
			e.headers = append(e.headers, header{name, value})
		}
	}
	switch {
	case c.json:
		add("Content-Type", "application/json")
		add("Accept", "application/json")
	case c.hasData && !c.get:
		add("Content-Type", "application/x-www-form-urlencoded")
	}
	if c.agent != nil {
		add("User-Agent", *c.agent)
	}
	add("Referer", c.referer)
	if len(c.cookies) > 0 {
		e.headers = append(e.headers, header{"Cookie", strings.Join(c.cookies, "; ")})
	}
	switch {
	case c.bearer != "":
		add("Authorization", "Bearer "+c.bearer)
	case c.hasUser && !strings.Contains(c.user, ":"):
		return errors.New("-u has no password, for which curl would ask; write USER:PASSWORD")
	case c.hasUser:
		add("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.user)))
	}
	return nil
}
