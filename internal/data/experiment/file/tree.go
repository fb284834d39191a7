package file

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The maximum size of a file. The YAML parser's time grows with the square of the
// keys of one map and of the depth, so both are checked before it is called.
const (
	maxBytes  = 1 << 20
	maxTokens = 5_000
	maxNodes  = 5_000 // after aliases are replaced by what they stand for
	maxDepth  = 50
)

// treeReader turns YAML text into nodes.
type treeReader struct {
	problems *problems
	set      int // as in place
	anchors  map[string]*node
	nodes    int
	full     bool // maxNodes was passed and reported
}

// readTree reads one YAML document. If it cannot be read, readTree reports the
// reason and returns nil.
func readTree(p *problems, set int, data []byte) *node {
	r := &treeReader{problems: p, set: set, anchors: make(map[string]*node)}
	text, ok := r.plainText(data)
	if !ok {
		return nil
	}
	tokens, ok := r.tokens(text)
	if !ok {
		return nil
	}
	// Duplicate keys are reported here, with the place of the first one.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.DirectiveType:
		case body != nil:
			r.problems.add(r.place(doc.Start), "", "a second YAML document starts here; write one experiment per file")
			return nil
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return &node{kind: nullNode, at: place{r.set, 1, 1}}
	}
	root := r.node(body, 0)
	if r.full {
		return nil
	}
	return root
}

// plainText refuses data that is not text, and replaces CRLF: the lexer miscounts
// the lines of a quoted scalar with CRLF.
func (r *treeReader) plainText(data []byte) (string, bool) {
	if len(data) > maxBytes {
		r.problems.add(place{r.set, 1, 1}, "", "the file has %d bytes; the maximum is %d", len(data), maxBytes)
		return "", false
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	line, column := 1, 1
	for rest := text; rest != ""; {
		c, size := utf8.DecodeRuneInString(rest)
		switch {
		case c == utf8.RuneError && size == 1:
			r.problems.add(place{r.set, line, column}, "", "byte 0x%02x is not UTF-8; save the file as UTF-8", rest[0])
			return "", false
		case c == '\n':
			line, column = line+1, 0
		case c < ' ' && c != '\t' || c == 0x7f:
			r.problems.add(place{r.set, line, column}, "", "control character %U; remove it", c)
			return "", false
		}
		rest = rest[size:]
		column++
	}
	return text, true
}

func (r *treeReader) tokens(text string) (token.Tokens, bool) {
	tokens := lexer.Tokenize(text)
	if len(tokens) > maxTokens {
		r.problems.add(r.place(tokens[maxTokens]), "", "the file has more than %d YAML tokens up to here, which is the maximum", maxTokens)
		return nil, false
	}
	flow := 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		}
		if flow > maxDepth {
			r.problems.add(r.place(t), "", "nested more than %d deep", maxDepth)
			return nil, false
		}
	}
	return tokens, true
}

// syntax reports the parser's error in the parser's words, except for tabs.
func (r *treeReader) syntax(err error) {
	at, message := place{r.set, 1, 1}, err.Error()
	var known yaml.Error
	if errors.As(err, &known) {
		message = known.GetMessage()
		if t := known.GetToken(); t != nil {
			at = r.place(t)
		}
	}
	if strings.Contains(message, "character '\t'") {
		message = "a tab; YAML indents with spaces"
	}
	r.problems.add(at, "", "not YAML: %s", message)
}

func (r *treeReader) place(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{r.set, 1, 1}
	}
	return place{r.set, max(t.Position.Line, 1), max(t.Position.Column, 1)}
}

// node reads one value and all that is below it.
func (r *treeReader) node(n ast.Node, depth int) *node {
	null := &node{kind: nullNode, at: place{r.set, 1, 1}}
	if n == nil {
		return null
	}
	at := r.place(n.GetToken())
	null.at = at
	if depth > maxDepth {
		r.problems.add(at, "", "nested more than %d deep", maxDepth)
		return null
	}
	if r.nodes++; r.tooMany(at) {
		return null
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return null
	case *ast.MappingNode:
		return r.mapping(n, depth)
	case *ast.SequenceNode:
		list := &node{kind: listNode, at: at}
		for _, item := range n.Values {
			list.items = append(list.items, r.node(item, depth+1))
		}
		return list
	case *ast.AnchorNode:
		value := r.node(n.Value, depth)
		r.anchors[n.Name.GetToken().Value] = value
		return value
	case *ast.AliasNode:
		return r.alias(n, at)
	case *ast.TagNode:
		r.problems.add(at, "", "tag %s: YAML tags are not supported; remove it", n.GetToken().Value)
		return r.node(n.Value, depth)
	case *ast.LiteralNode:
		return &node{kind: scalarNode, at: at, text: n.Value.Value}
	case *ast.StringNode:
		return &node{kind: scalarNode, at: at, text: n.Value}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		// As written, so that an env value reaches the service unchanged.
		return &node{kind: scalarNode, at: at, text: n.GetToken().Value}
	}
	r.problems.add(at, "", "YAML of the kind %s is not supported", n.Type())
	return null
}

func (r *treeReader) mapping(n *ast.MappingNode, depth int) *node {
	m := &node{kind: mapNode, at: r.place(n.GetToken())}
	if !n.IsFlowStyle && len(n.Values) > 0 {
		m.at = r.place(n.Values[0].Key.GetToken())
	}
	first := make(map[string]place)
	for _, v := range n.Values {
		at := r.place(v.Key.GetToken())
		key, ok := mapKey(v.Key)
		if !ok {
			r.problems.add(at, "", "a key must be a plain word; \"<<\", \"?\" and anchors are not supported")
			continue
		}
		if before, twice := first[key]; twice {
			r.problems.add(at, "", "duplicate key %q; the first is at %s", key, before)
			continue
		}
		first[key] = at
		m.entries = append(m.entries, &entry{key, at, r.node(v.Value, depth+1)})
	}
	return m
}

func mapKey(k ast.MapKeyNode) (string, bool) {
	switch k := k.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, true
	}
	return "", false
}

func (r *treeReader) alias(n *ast.AliasNode, at place) *node {
	name := n.Value.GetToken().Value
	value, ok := r.anchors[name]
	if !ok {
		r.problems.add(at, "", "*%s: there is no anchor &%s before it", name, name)
		return &node{kind: nullNode, at: at}
	}
	r.nodes += value.size()
	if r.tooMany(at) {
		return &node{kind: nullNode, at: at}
	}
	return value.copy()
}

// tooMany reports, once, a file that is too large.
func (r *treeReader) tooMany(at place) bool {
	if r.nodes > maxNodes && !r.full {
		r.full = true
		r.problems.add(at, "", "the file expands to more than %d values up to here, which is the maximum", maxNodes)
	}
	return r.full
}
