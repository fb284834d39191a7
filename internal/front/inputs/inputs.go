// Package inputs has the flags of `load` and `try` for requests that people have already:
// commands of curl, HAR files, targets of vegeta, JSON lines and OpenAPI. It reads their files, makes
// the mix of a load of them, and says what is sent and what is not. Package captured knows the
// formats.
package inputs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/captured"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

// Flags are the values of the flags, of which at most one is set.
type Flags struct {
	Curl    []string // commands, or @FILE
	HAR     string   // files
	Targets string
	Mix     string
	Session string

	OpenAPI    string
	AllMethods bool     // of OpenAPI, also those that may change data
	Params     []string // of OpenAPI: NAME=VALUE
}

// Define defines the flags.
func (f *Flags) Define(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.Curl, "curl", nil, "send the request of this curl command, or @FILE with commands, as a browser copies them (repeatable)")
	flags.StringVar(&f.HAR, "har", "", "send the requests of this HAR `FILE`, as a browser saves it: those to the host with most of them")
	flags.StringVar(&f.Targets, "targets", "", "send the targets of vegeta in this `FILE`")
	flags.StringVar(&f.Mix, "mix", "", "send the requests of this `FILE`: JSON lines with method, path or url, headers, body and weight")
	flags.StringVar(&f.Session, "session", "", "send the requests of this `FILE` in their order, as sessions of users: JSON lines as those of --mix, with think and capture in place of weight")
	flags.StringVar(&f.OpenAPI, "openapi", "", "send a request for each operation of this OpenAPI or Swagger `FILE` that changes no data, with its examples as values")
	flags.StringArrayVar(&f.Params, "param", nil, "with --openapi: value of a parameter of all operations that have it, as NAME=VALUE (repeatable)")
	flags.BoolVar(&f.AllMethods, "all-methods", false, "with --openapi: also send POST, PUT, PATCH and DELETE, which may change data")
}

// names are the names of the flags, by their formats.
var names = []string{"curl", "har", "targets", "mix", "session", "openapi"}

// Contradiction reports flags that exclude each other. changed reports whether a flag was set;
// others are flags that set the request.
func (f *Flags) Contradiction(changed func(string) bool, others ...string) error {
	if changed("all-methods") && !changed("openapi") {
		return errors.New("--all-methods needs --openapi: other inputs were recorded or written, and all of their methods are sent")
	}
	if changed("param") && !changed("openapi") {
		return errors.New("--param needs --openapi: other inputs have their values")
	}
	set := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !changed(name) })
	if len(set) == 0 {
		return nil
	}
	for _, other := range append(set[1:], others...) {
		if changed(other) {
			return fmt.Errorf("--%s has the requests: leave out --%s", set[0], other)
		}
	}
	return nil
}

// URLs is how many URLs a load needs of which so many were given: a command of curl has one.
func (f *Flags) URLs(given int) int {
	if len(f.Curl) > 0 && given == 0 {
		return 0
	}
	return 1
}

// source is the flag that is set, its format, and its files or texts.
func (f *Flags) source() (flag string, format captured.Format, values []string) {
	switch {
	case len(f.Curl) > 0:
		return "--curl", captured.Curl, f.Curl
	case f.HAR != "":
		return "--har " + f.HAR, captured.HAR, []string{"@" + f.HAR}
	case f.Targets != "":
		return "--targets " + f.Targets, captured.Targets, []string{"@" + f.Targets}
	case f.Mix != "":
		return "--mix " + f.Mix, captured.Lines, []string{"@" + f.Mix}
	case f.Session != "":
		return "--session " + f.Session, captured.Session, []string{"@" + f.Session}
	case f.OpenAPI != "" && f.AllMethods:
		return "--openapi " + f.OpenAPI, captured.AllOpenAPI, []string{"@" + f.OpenAPI}
	case f.OpenAPI != "":
		return "--openapi " + f.OpenAPI, captured.OpenAPI, []string{"@" + f.OpenAPI}
	}
	return "", 0, nil
}

// Input is what the flag of an input has.
type Input struct {
	*captured.Input
	Flag    string // as the user wrote it
	Session bool   // the requests are the steps of one
	noun    string // of an entry
}

// mostBytes bounds a file. HAR files also have the answers.
const mostBytes = 256 << 20

// Read reads the input; nil if no flag is set.
func (f *Flags) Read() (*Input, error) {
	flag, format, values := f.source()
	if flag == "" {
		return nil, nil
	}
	var all [][]byte
	for _, value := range values {
		name, isFile := strings.CutPrefix(value, "@")
		if !isFile {
			all = append(all, []byte(value))
			continue
		}
		data, err := readFile(name)
		if ext := filepath.Ext(name); err == nil && slices.Contains([]string{".js", ".ts", ".mjs", ".py", ".jmx"}, ext) {
			err = fmt.Errorf("%s is a script of another tool, and scripts are not run; docs/coming-from-k6.md has what a k6 script is here", name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		all = append(all, data)
	}
	whole := slices.Concat(join(all)...)
	in, err := f.read(format, whole)
	if err != nil {
		if other, unknown := captured.Detect(whole); unknown == nil && other.String() != format.String() {
			err = fmt.Errorf("this looks like %v; use --%s", other, names[other])
		}
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return newInput(in, flag, format)
}

func (f *Flags) read(format captured.Format, data []byte) (*captured.Input, error) {
	if f.OpenAPI == "" {
		return captured.Read(format, data, readFile)
	}
	values := map[string]string{}
	for _, param := range f.Params {
		name, value, ok := strings.Cut(param, "=")
		if _, twice := values[name]; !ok || name == "" || value == "" || twice {
			return nil, fmt.Errorf("--param %s: want NAME=VALUE, with each name once", param)
		}
		values[name] = value
	}
	return captured.ReadOpenAPI(format, data, values)
}

// newInput makes the files of bodies independent of the working folder: --save may write the
// experiment anywhere. No record has the values of what the input describes as keys.
func newInput(in *captured.Input, flag string, format captured.Format) (*Input, error) {
	for _, name := range in.Keys {
		secret.Declare(name)
	}
	for i := range in.Requests {
		if r := &in.Requests[i]; r.File != "" {
			whole, err := filepath.Abs(r.File)
			if err != nil {
				return nil, err
			}
			r.File = whole
		}
	}
	noun := "request"
	if format == captured.OpenAPI || format == captured.AllOpenAPI {
		noun = "operation"
	}
	return &Input{in, flag, format == captured.Session, noun}, nil
}

// join puts ends of lines between texts.
func join(all [][]byte) (joined [][]byte) {
	for i, text := range all {
		if i > 0 {
			joined = append(joined, []byte("\n"))
		}
		joined = append(joined, text)
	}
	return joined
}

func readFile(name string) ([]byte, error) {
	if name == "" {
		return nil, errors.New("want the name of a file")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostBytes+1))
	if err == nil && len(data) > mostBytes {
		err = fmt.Errorf("it has more than %d MiB", mostBytes>>20)
	}
	return data, err
}

// URL is the URL of the host whose requests are sent; "": they name none.
func (in *Input) URL() string {
	sent := in.For("")
	for _, r := range sent.Requests {
		switch {
		case r.Host == "":
		case r.TLS:
			return "https://" + r.Host + "/"
		default:
			return "http://" + r.Host + "/"
		}
	}
	return ""
}

// Set sets the load's requests: those to a host. headers replace those of the requests, and more
// are further keys of each.
func (in *Input) Set(s *file.Settings, host string, headers map[string]string, more map[string]any) {
	s.Set(in.Flag, "load.mix", in.mix(host, headers, more))
	if in.Session {
		s.Set(in.Flag, "load.session", true)
	}
}

// mix is the value of load.mix.
func (in *Input) mix(host string, headers map[string]string, more map[string]any) []map[string]any {
	var mix []map[string]any
	for _, r := range in.For(host).Requests {
		one := map[string]any{"method": r.Method, "path": r.Path}
		maps.Copy(one, more)
		all := maps.Clone(r.Headers)
		if all == nil {
			all = map[string]string{}
		}
		replaced := slices.Collect(maps.Keys(headers))
		if more["auth"] != nil {
			replaced = append(replaced, "Authorization")
		}
		maps.DeleteFunc(all, func(name, _ string) bool {
			return slices.ContainsFunc(replaced, func(other string) bool { return strings.EqualFold(name, other) })
		})
		if maps.Copy(all, headers); len(all) > 0 {
			one["headers"] = all
		}
		if r.Body != "" {
			one["body"] = r.Body
		}
		if r.File != "" {
			one["body_file"] = r.File
		}
		if r.Name != "" {
			one["name"] = r.Name
		}
		if r.Weight > 1 {
			one["weight"] = r.Weight
		}
		if r.Check != nil {
			one["check"] = r.Check
		}
		if r.Think != "" {
			one["think"] = r.Think
		}
		if r.Capture != nil {
			one["capture"] = r.Capture
		}
		mix = append(mix, one)
	}
	return mix
}

// Report writes the sentences of Words, in the width of a terminal.
func (in *Input) Report(out io.Writer, host string, given ...string) {
	for _, line := range in.Words(host, given...) {
		fmt.Fprintln(out, display.TerminalOf(out).Wrap(display.Plain(secret.Text(line)), ""))
	}
}

// Words are sentences about what of the input is sent to a host, and what is not; nil of no
// input. given are the headers that flags set.
func (in *Input) Words(host string, given ...string) []string {
	if in == nil {
		return nil
	}
	sent := in.For(host)
	first := fmt.Sprintf("%s: %s read, %d used", in.Flag, phrase.Plural(in.Entries, in.noun), sent.Entries)
	if in.Session {
		first += " in their order by each session"
	}
	if n := len(sent.Requests); n < sent.Entries && n > 1 {
		first += fmt.Sprintf(" as %d different ones", n)
	}
	if in.noun == "operation" && len(sent.Requests) > 1 {
		first += ", each equally often"
	}
	if sent.Host != "" {
		first += ", those to " + sent.Host
	}
	if n := changing(sent); n > 0 {
		first += fmt.Sprintf("; %d may change data", n)
	}
	words := []string{first + "."}
	var not []string
	if len(in.Skipped) > 0 {
		not = append(not, "skipped: "+in.SkippedWords())
	}
	if len(sent.Dropped) > 0 {
		not = append(not, "dropped: "+hosts(sent.Dropped))
	}
	if len(not) > 0 {
		words = append(words, "Not sent: "+strings.Join(not, "; ")+".")
	}
	if len(in.Unused) > 0 {
		words = append(words, "Not used, because millicore has flags of its own: "+strings.Join(in.Unused, ", ")+".")
	}
	return append(words, unknown(sent, given)...)
}

// unknown are sentences about values that the input cannot have. Headers that are given
// are known.
func unknown(s captured.Sent, given []string) (words []string) {
	madeUp := 0
	var needs []captured.Count
	names := map[string]int{}
	for _, r := range s.Requests {
		if len(r.MadeUp) > 0 {
			madeUp += r.Entries
		}
		for _, name := range r.MadeUp {
			names[name] += r.Entries
		}
		for _, need := range r.Needs {
			if slices.ContainsFunc(given, func(header string) bool {
				name, _, _ := strings.Cut(header, ":")
				return strings.HasPrefix(strings.ToLower(need), "--header '"+strings.ToLower(strings.TrimSpace(name))+":")
			}) {
				continue
			}
			i := slices.IndexFunc(needs, func(c captured.Count) bool { return c.What == need })
			if i < 0 {
				i = len(needs)
				needs = append(needs, captured.Count{What: need})
			}
			needs[i].Entries += r.Entries
		}
	}
	if madeUp > 0 {
		param := ""
		if len(names) > 1 || names[body] == 0 {
			param = " --param NAME=VALUE sets a parameter."
		}
		words = append(words, fmt.Sprintf("Made up from types, because the file has no example: values of %s, which the service may refuse: %s.%s", phrase.Plural(madeUp, "operation"), most(names), param))
	}
	var all []string
	for _, c := range needs {
		all = append(all, fmt.Sprintf("%s for %s", c.What, phrase.Plural(c.Entries, "operation")))
	}
	if len(all) > 0 {
		words = append(words, "Credentials, which the file cannot have: "+strings.Join(all, ", ")+".")
	}
	return words
}

// body is the name of a body whose values are made up.
const body = "the body"

// most names what occurs most often: "owner in 700, repo in 690, and 40 others".
func most(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	var all []string
	for _, name := range names[:min(shown, len(names))] {
		all = append(all, fmt.Sprintf("%s in %d", name, counts[name]))
	}
	text := strings.Join(all, ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(", and %s", phrase.Plural(more, "other"))
	}
	return text
}

// changing counts the entries whose methods are not safe (RFC 9110, section 9.2.1).
func changing(s captured.Sent) (n int) {
	safe := []string{"GET", "HEAD", "OPTIONS", "QUERY", "PROPFIND", "REPORT", "SEARCH"}
	for _, r := range s.Requests {
		if !slices.Contains(safe, r.Method) {
			n += r.Entries
		}
	}
	return n
}

// shown is how many hosts or parameters are named.
const shown = 5

// hosts names dropped hosts: "a.example 3, b.example 1".
func hosts(dropped []captured.Count) string {
	var all []string
	rest := 0
	for i, d := range dropped {
		if i < shown {
			all = append(all, fmt.Sprintf("%d to %s", d.Entries, d.What))
		} else {
			rest += d.Entries
		}
	}
	text := strings.Join(all, ", ")
	if rest > 0 {
		text += fmt.Sprintf(", and %d to %d other hosts", rest, len(dropped)-shown)
	}
	return text
}
