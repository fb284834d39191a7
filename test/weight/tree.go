package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/millicore/millicore/"

// pack is a package of the product without its tests.
type pack struct {
	lines   int
	prose   []string        // the places of its prose, as file:line: "text"
	imports map[string]bool // those of this project
}

// tree has the packages by their names in docs/architecture.md.
type tree map[string]*pack

// parseTree reads the packages of the product.
func parseTree(all files) (tree, error) {
	t := tree{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !product(name) || strings.Contains(name, "/testdata/") {
			continue
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, all[name], parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p := t[folder(name)]
		if p == nil {
			p = &pack{imports: map[string]bool{}}
			t[folder(name)] = p
		}
		p.lines += lines(all[name])
		for _, spec := range file.Imports {
			if target, own := strings.CutPrefix(imported(spec), module); own {
				p.imports[strings.TrimPrefix(target, "internal/")] = true
			}
		}
		if judges(folder(name)) {
			for _, literal := range prose(file) {
				p.prose = append(p.prose, fmt.Sprintf("%v: %s", positions.Position(literal.Pos()), literal.Value))
			}
		}
	}
	return t, nil
}

func imported(spec *ast.ImportSpec) string {
	path, _ := strconv.Unquote(spec.Path.Value) // the parser has read it
	return path
}

// judges reports whether a package judges records. It returns findings, and narrative
// has the words.
func judges(name string) bool { return name == "analysis" || strings.HasPrefix(name, "analysis/") }

// prose returns the strings of a file that have four words or more, without those of
// errors.
func prose(file *ast.File) []*ast.BasicLit {
	var found []*ast.BasicLit
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field: // paths, and tags of fields
			return false
		case *ast.CallExpr:
			return !makesError(n)
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && words(text) >= 4 {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

func makesError(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name == "Errorf" || f.Sel.Name == "New"
	case *ast.Ident:
		return f.Name == "panic"
	}
	return false
}

// words counts the words of a text that have a letter. A verb such as %s has none.
func words(text string) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if !strings.HasPrefix(word, "%") && strings.ContainsFunc(word, letter) {
			n++
		}
	}
	return n
}

func letter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
