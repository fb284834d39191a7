package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// likeness is a comment that explains a function by another one: "longFlags is longFlag
// of a command". Its reader must know the other function first. Say what it does.
var likeness = regexp.MustCompile(`^(\w+)\s+is\s+(\w+)\b`)

// plain are words that are also names of functions, and mostly mean themselves.
var plain = map[string]bool{"how": true, "load": true, "objective": true, "of": true, "what": true, "where": true, "why": true}

// likenesses finds such comments in files of Go, by their names.
func likenesses(sources map[string][]byte) ([]string, error) {
	positions := token.NewFileSet()
	functions := map[string]map[string]bool{} // by folder
	var docs []*ast.FuncDecl
	for name, source := range sources {
		file, err := parser.ParseFile(positions, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		folder := path.Dir(name)
		if functions[folder] == nil {
			functions[folder] = map[string]bool{}
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				functions[folder][f.Name.Name] = true
				docs = append(docs, f)
			}
		}
	}
	var found []string
	for _, f := range docs {
		at := positions.Position(f.Pos())
		m := likeness.FindStringSubmatch(strings.TrimSpace(f.Doc.Text()))
		if m != nil && m[1] == f.Name.Name && m[2] != m[1] && !plain[m[2]] && functions[path.Dir(at.Filename)][m[2]] {
			found = append(found, fmt.Sprintf("%s:%d: %q: say what it does", at.Filename, at.Line, m[0]))
		}
	}
	slices.Sort(found)
	return found, nil
}
