package file

import (
	"fmt"
	"strings"
)

// node is one value of the file: the part of YAML that experiments use, with
// anchors resolved, and independent of the parser's tree.
type node struct {
	kind    nodeKind
	at      place
	path    string   // of the field, such as "limits.cpu"
	text    string   // of a scalar, as it was written: "010" stays "010"
	entries []*entry // of a map, in the file's order
	items   []*node  // of a list

	absent bool // stands for a key that was not written
	bad    bool // something is wrong with it, and was reported
	lacks  bool // keys of the map are missing or exclude one another, as was reported
}

type nodeKind int

const (
	nullNode nodeKind = iota
	scalarNode
	mapNode
	listNode
)

// entry is one key of a map.
type entry struct {
	key   string
	at    place // of the key
	value *node
}

func (n *node) entry(key string) *entry {
	for _, e := range n.entries {
		if e.key == key {
			return e
		}
	}
	return nil
}

// child is the value of a key. Where the key was not written, it is an absent
// node at the place of the map.
func (n *node) child(key string) *node {
	if e := n.entry(key); e != nil {
		return e.value
	}
	return &node{kind: nullNode, at: n.at, path: join(n.path, key), absent: true}
}

// find is the value at a path of keys.
func (n *node) find(path string) *node {
	for key := range strings.SplitSeq(path, ".") {
		n = n.child(key)
	}
	return n
}

// given reports whether there is a value other than null.
func (n *node) given() bool { return n.kind != nullNode }

// sound reports whether there is a value without a reported error.
func (n *node) sound() bool { return n.given() && !n.bad }

// changed is where the entry was last written: its key in the file, or a --set.
func (e *entry) changed() place {
	if e.value.at.set > 0 {
		return e.value.at
	}
	return e.at
}

// empty reports whether the node is a list or a map without items.
func (n *node) empty() bool {
	return (n.kind == listNode || n.kind == mapNode) && len(n.items)+len(n.entries) == 0
}

// what names the kind of a node in errors.
func (n *node) what() string {
	switch n.kind {
	case mapNode:
		return "a map"
	case listNode:
		return "a list"
	case scalarNode:
		return "a single value"
	}
	return "null"
}

func (n *node) copy() *node {
	c := *n
	c.entries = make([]*entry, len(n.entries))
	for i, e := range n.entries {
		c.entries[i] = &entry{e.key, e.at, e.value.copy()}
	}
	c.items = make([]*node, len(n.items))
	for i, item := range n.items {
		c.items[i] = item.copy()
	}
	return &c
}

// all calls visit for the node and all that is below it, until it returns false.
func (n *node) all(visit func(*node) bool) bool {
	if !visit(n) {
		return false
	}
	for _, e := range n.entries {
		if !e.value.all(visit) {
			return false
		}
	}
	for _, item := range n.items {
		if !item.all(visit) {
			return false
		}
	}
	return true
}

func (n *node) size() int {
	size := 0
	n.all(func(*node) bool { size++; return true })
	return size
}

// spelled is the map that a single value stands for.
func (n *node) spelled(key string) *node {
	return &node{kind: mapNode, at: n.at, entries: []*entry{{key: key, at: n.at, value: n}}}
}

// locate sets the paths of a node and of all nodes below it.
func (n *node) locate(path string) {
	n.path = path
	for _, e := range n.entries {
		e.value.locate(join(path, e.key))
	}
	for i, item := range n.items {
		item.locate(fmt.Sprintf("%s[%d]", path, i))
	}
}

// join is the path of a key.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
