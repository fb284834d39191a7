package captured

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// word is an argument of a command, and where it begins.
type word struct {
	text string
	at   place
}

// place is a place in a text of commands, from 1.
type place struct{ line, column int }

func (p place) String() string { return fmt.Sprintf("line %d, column %d", p.line, p.column) }

// windows matches what browsers write for Windows' cmd: an escaped quote, or a line that
// continues.
var windows = regexp.MustCompile(`\^"|\^[ \t]*\r?(\n|$)`)

// commands splits a text into commands and their words, in the quoting that it has.
func commands(text string) ([][]word, error) {
	if windows.MatchString(text) {
		return cmdCommands(text)
	}
	return shellCommands(text)
}

// shellCommands reads the quoting of bash. Nothing is run, and nothing is expanded: what a
// shell would replace is an error.
func shellCommands(text string) ([][]word, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	var wrong syntax.ParseError
	var other syntax.LangError
	switch {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("%v: %s", placeOf(wrong.Pos), wrong.Text)
	case errors.As(err, &other):
		return nil, fmt.Errorf("%v: %s", placeOf(other.Pos), other.Feature)
	case err != nil:
		return nil, err
	}
	var all [][]word
	for _, s := range parsed.Stmts {
		call, ok := s.Cmd.(*syntax.CallExpr)
		switch at := placeOf(s.Pos()); {
		case len(s.Redirs) > 0:
			return nil, fmt.Errorf("%v: leave out the redirection of the command", placeOf(s.Redirs[0].Pos()))
		case !ok || s.Negated:
			return nil, fmt.Errorf("%v: leave out what stands around the curl command, such as a pipe", at)
		case len(call.Assigns) > 0 && len(call.Args) == 0 && len(all) > 0:
			return nil, fmt.Errorf("%v: a & before this ends the curl command; put the URL into quotes", at)
		case len(call.Assigns) > 0:
			return nil, fmt.Errorf("%v: leave out the variables before the curl command", at)
		}
		var words []word
		for _, w := range call.Args {
			var b strings.Builder
			if err := literal(&b, w.Parts, false); err != nil {
				return nil, err
			}
			words = append(words, word{b.String(), placeOf(w.Pos())})
		}
		all = append(all, words)
	}
	return all, nil
}

func placeOf(p syntax.Pos) place { return place{int(p.Line()), int(p.Col())} }

// literal appends the text of the parts of a word.
func literal(b *strings.Builder, parts []syntax.WordPart, quoted bool) error {
	for _, part := range parts {
		refuse := func(what string) error {
			return fmt.Errorf("%v: %s is not replaced, because nothing of a command is run; write its value", placeOf(part.Pos()), what)
		}
		switch p := part.(type) {
		case *syntax.Lit:
			unescape(b, p.Value, quoted)
		case *syntax.SglQuoted:
			if !p.Dollar {
				b.WriteString(p.Value)
			} else if err := ansi(b, p.Value); err != nil {
				return fmt.Errorf("%v: %w", placeOf(p.Pos()), err)
			}
		case *syntax.DblQuoted:
			if err := literal(b, p.Parts, true); err != nil {
				return err
			}
		case *syntax.ParamExp:
			if p.Param == nil {
				return refuse("the variable")
			}
			return refuse("the variable $" + p.Param.Value)
		case *syntax.CmdSubst:
			return refuse("the output of another command")
		default:
			return refuse("this expression of the shell")
		}
	}
	return nil
}

// unescape appends a text without the backslashes that quote: all outside of quotes, and
// those before $ ` " \ within double quotes.
func unescape(b *strings.Builder, text string, quoted bool) {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; {
		case c == '\n': // the line continues
		case !quoted || strings.IndexByte("$`\"\\", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
}

// simple are the escapes of $'…' that stand for one character.
var simple = map[byte]byte{'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11, '\\': '\\', '\'': '\'', '"': '"', '?': '?'}

// ansi appends the text of $'…'. Browsers write characters above 16 bits as two escapes, as
// in JavaScript.
func ansi(b *strings.Builder, text string) error {
	var high rune // the first of two escapes; 0: none
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		if plain, ok := simple[c]; ok {
			b.WriteByte(plain)
			continue
		}
		var digits string
		base, most := 16, map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		switch {
		case most > 0:
			digits = leading(text[i+1:], most, "0123456789abcdefABCDEF")
			i += len(digits)
		case c >= '0' && c <= '7':
			base, digits = 8, leading(text[i:], 3, "01234567")
			i += len(digits) - 1
		case c == 'c' && i+1 < len(text):
			i++
			b.WriteByte(text[i] & 0x1f)
			continue
		}
		n, err := strconv.ParseUint(digits, base, 32)
		switch r := rune(n); {
		case err != nil:
			return fmt.Errorf(`\%c in $'…' is not an escape of bash`, c)
		case most <= 2: // bytes
			b.WriteByte(byte(n))
		case utf16.IsSurrogate(r) && high == 0:
			high = r
			continue
		case high != 0:
			b.WriteRune(utf16.DecodeRune(high, r))
		case !utf8.ValidRune(r):
			return fmt.Errorf(`\%c%s in $'…' is no character`, c, digits)
		default:
			b.WriteRune(r)
		}
		high = 0
	}
	return nil
}

// leading is the start of a text that has only some characters.
func leading(text string, most int, of string) string {
	n := 0
	for n < min(most, len(text)) && strings.IndexByte(of, text[n]) >= 0 {
		n++
	}
	return text[:n]
}

// char is a byte after cmd's own quoting, and where it stood.
type char struct {
	b  byte
	at place
}

// cmdCommands reads the quoting of Windows, which has two steps. cmd ends a command at a
// line's end or at &, and removes carets (https://ss64.com/nt/syntax-esc.html). The program
// splits what is left into words by its quotes (https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments).
// Variables such as %PATH% are text.
//
// Browsers once wrote \" for a quote, at which the quotes of cmd end. If they do not match, the
// text is read as it was meant.
func cmdCommands(text string) ([][]word, error) {
	all, err := splitCmd(text, false)
	if err != nil {
		if meant, err := splitCmd(text, true); err == nil {
			return meant, nil
		}
	}
	return all, err
}

// splitCmd splits a text. With escapes a quote after a backslash is not one of cmd's.
func splitCmd(text string, escapes bool) ([][]word, error) {
	var all [][]word
	var line []char
	var opened place
	quoted := false
	end := func() error {
		words, err := cmdWords(line)
		if len(words) > 0 {
			all = append(all, words)
		}
		line = nil
		return err
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	at := place{1, 0}
	for i := 0; i < len(text); i++ {
		c := text[i]
		at.column++
		switch {
		case c == '^' && !quoted:
			rest := strings.TrimLeft(text[i+1:], " \t")
			switch {
			case strings.HasPrefix(rest, "\n"): // the line continues
				i = len(text) - len(rest)
				at = place{at.line + 1, 0}
				if strings.HasPrefix(text[i+1:], "\n") { // after it, an end of a line is one
					i++
					at = place{at.line + 1, 0}
					line = append(line, char{'\n', at})
				}
			case rest == "":
				i = len(text)
			default:
				i++
				at.column++
				line = append(line, char{text[i], at})
			}
			continue
		case c == '"' && escapes && escaped(line):
		case c == '"':
			quoted, opened = !quoted, at
		case c == '\n':
			if !quoted {
				if err := end(); err != nil {
					return nil, err
				}
				at = place{at.line + 1, 0}
				continue
			}
			at = place{at.line + 1, 0}
		case c == '&' && !quoted:
			if err := end(); err != nil {
				return nil, err
			}
			continue
		case strings.IndexByte("|<>", c) >= 0 && !quoted:
			return nil, fmt.Errorf("%v: leave out what stands around the curl command, such as a pipe", at)
		}
		line = append(line, char{c, at})
	}
	if quoted {
		return nil, fmt.Errorf("%v: this quote is not closed", opened)
	}
	return all, end()
}

// escaped reports whether an odd number of backslashes ends a line.
func escaped(line []char) bool {
	n := 0
	for n < len(line) && line[len(line)-1-n].b == '\\' {
		n++
	}
	return n%2 == 1
}

// cmdWords splits the characters of a command into words, as programs of Windows do.
func cmdWords(line []char) (words []word, err error) {
	var b strings.Builder
	var opened place
	inWord, quoted := false, false
	for i := 0; i < len(line); i++ {
		c := line[i]
		if !quoted && (c.b == ' ' || c.b == '\t') {
			if inWord {
				words[len(words)-1].text = b.String()
			}
			inWord = false
			continue
		}
		if !inWord {
			b.Reset()
			words, inWord = append(words, word{at: c.at}), true
		}
		slashes := 0
		for i+slashes < len(line) && line[i+slashes].b == '\\' {
			slashes++
		}
		before := i + slashes
		switch {
		case slashes > 0 && before < len(line) && line[before].b == '"':
			b.WriteString(strings.Repeat(`\`, slashes/2))
			if i = before - 1; slashes%2 == 1 {
				b.WriteByte('"')
				i = before
			}
		case slashes > 0:
			b.WriteString(strings.Repeat(`\`, slashes))
			i = before - 1
		case c.b == '"' && quoted && i+1 < len(line) && line[i+1].b == '"':
			b.WriteByte('"')
			i++
		case c.b == '"':
			quoted, opened = !quoted, c.at
		default:
			b.WriteByte(c.b)
		}
	}
	if inWord {
		words[len(words)-1].text = b.String()
	}
	if quoted {
		return nil, fmt.Errorf("%v: this quote is not closed", opened)
	}
	return words, nil
}
