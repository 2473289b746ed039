package fields

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// node is a value of a file of rules, which errors name.
type node struct {
	file string
	at   ast.Node
}

// member is a key of a mapping and its value.
type member struct {
	key string
	node
}

func (n node) fail(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", n.file, n.at.GetToken().Position.Line, fmt.Errorf(format, args...))
}

// position is what begins the messages of YAML's reader.
var position = regexp.MustCompile(`^\[(\d+):\d+\] `)

// read reads a file.
func read(file, text string) (node, error) {
	text = strings.TrimPrefix(text, "\ufeff") // the library takes it for a part of the first key
	parsed, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			return node{}, fmt.Errorf("%s:%d: %s", file, syntax.GetToken().Position.Line, syntax.GetMessage())
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		return node{}, fmt.Errorf("%s: %s", file, position.ReplaceAllString(first, ""))
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return node{}, fmt.Errorf("%s:1: a file of rules is one mapping with the keys match and fields", file)
	}
	return node{file, parsed.Docs[0].Body}, nil
}

// members are the keys of a mapping, which are known.
func (n node) members(what string, known ...string) ([]member, error) {
	var values []*ast.MappingValueNode
	switch m := n.at.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		return nil, n.fail("%s is not a mapping", what)
	}
	var all []member
	seen := map[string]bool{}
	for _, v := range values {
		key := node{n.file, v.Key}
		name, err := key.text("a key of " + what)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, key.fail("%s has %s twice", what, name)
		}
		seen[name] = true
		if len(known) > 0 && !slices.Contains(known, name) {
			return nil, key.fail("%s has no key %q: the keys are %s", what, name, strings.Join(known, ", "))
		}
		all = append(all, member{name, node{n.file, v.Value}})
	}
	return all, nil
}

// text is a scalar as text.
func (n node) text(what string) (string, error) {
	switch v := n.at.(type) {
	case *ast.StringNode:
		return v.Value, nil
	case *ast.LiteralNode:
		return strings.TrimSpace(v.Value.Value), nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.at.GetToken().Value, nil
	}
	return "", n.fail("%s is not a text", what)
}

// texts is a text, or a list of texts.
func (n node) texts(what string) ([]member, error) {
	items := []ast.Node{n.at}
	if list, ok := n.at.(*ast.SequenceNode); ok {
		items = list.Values
	}
	var all []member
	for _, item := range items {
		at := node{n.file, item}
		text, err := at.text(what)
		if err != nil {
			return nil, err
		}
		all = append(all, member{text, at})
	}
	if len(all) == 0 {
		return nil, n.fail("%s is empty", what)
	}
	return all, nil
}

func (n node) flag(what string) (bool, error) {
	if v, ok := n.at.(*ast.BoolNode); ok {
		return v.Value, nil
	}
	return false, n.fail("%s is neither true nor false", what)
}
