// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"time"
)

// Bounds of one template; sizes in bytes.
const (
	MaxTemplate = 4 << 20
	MaxOutput   = 16 << 20
	// maxActions bounds what stands in braces, and with it how deep a template can be nested.
	maxActions = 20_000
	// maxWork bounds the sizes of all arguments and results of functions together.
	maxWork = 64 << 20
	// timeout is the longest time that a template may run.
	timeout = 10 * time.Second
)

// Error is a mistake in a template.
type Error struct {
	// Line and Column count from 1; 0 when they are not known.
	Line, Column int
	Message      string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// Render fills a template with groups of named values: {{ .group.name }}. A name that does not exist is an
// error.
func Render(ctx context.Context, text string, groups map[string]map[string]string) (string, error) {
	if len(text) > MaxTemplate {
		return "", &Error{
			Message: fmt.Sprintf(
				"it has %d bytes, more than the %d MiB that a template may have", len(text), MaxTemplate>>20,
			),
		}
	}
	if n := strings.Count(text, "{{"); n > maxActions {
		return "", &Error{
			Message: fmt.Sprintf("it has %d pairs of braces, more than the %d that a template may have", n, maxActions),
		}
	}
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it takes longer than %s", timeout))
	defer cancel()
	m := &meter{ctx: ctx, left: maxWork}
	parsed, err := template.New("template").Option("missingkey=error").Funcs(functions(m)).Parse(text)
	if err == nil {
		err = instrument(parsed)
	}
	if err == nil {
		err = parsed.Execute(m, groups)
	}
	if err != nil {
		return "", explain(err, groups)
	}
	return m.output.String(), nil
}

// instrument puts an empty text before every node: the writer learns of each step, and can stop a loop
// that writes nothing. Templates that use themselves are refused, as their depth has no bound.
func instrument(parsed *template.Template) error {
	uses := map[string][]string{}
	for _, t := range parsed.Templates() {
		if t.Tree == nil {
			continue
		}
		var used []string
		insertSteps(t.Root, func(n *parse.TemplateNode) { used = append(used, n.Name) })
		uses[t.Name()] = used
	}
	state := map[string]int{} // 1 while it is being visited, 2 when it has been
	var visit func(name string) error
	visit = func(name string) error {
		if state[name] == 1 {
			return fmt.Errorf("template %q uses itself", name)
		}
		if state[name] == 2 {
			return nil
		}
		state[name] = 1
		for _, used := range uses[name] {
			if err := visit(used); err != nil {
				return err
			}
		}
		state[name] = 2
		return nil
	}
	for name := range uses {
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}

func insertSteps(list *parse.ListNode, uses func(*parse.TemplateNode)) {
	if list == nil {
		return
	}
	stepped := []parse.Node{&parse.TextNode{NodeType: parse.NodeText, Pos: list.Pos}}
	for _, node := range list.Nodes {
		stepped = append(stepped, &parse.TextNode{NodeType: parse.NodeText, Pos: node.Position()}, node)
		switch node := node.(type) {
		case *parse.RangeNode:
			insertSteps(node.List, uses)
			insertSteps(node.ElseList, uses)
		case *parse.IfNode:
			insertSteps(node.List, uses)
			insertSteps(node.ElseList, uses)
		case *parse.WithNode:
			insertSteps(node.List, uses)
			insertSteps(node.ElseList, uses)
		case *parse.TemplateNode:
			uses(node)
		}
	}
	list.Nodes = stepped
}

var (
	place   = regexp.MustCompile(`^template: template:(\d+):(?:(\d+):)? ?`)
	missing = regexp.MustCompile(`at <\.([^.>]+)\.[^>]*>: map has no entry for key "([^"]*)"`)
)

// explain makes the library's message one for the author of the template.
func explain(err error, groups map[string]map[string]string) *Error {
	e := &Error{Message: err.Error()}
	if at := place.FindStringSubmatch(e.Message); at != nil {
		e.Line, _ = strconv.Atoi(at[1])
		if at[2] != "" {
			column, _ := strconv.Atoi(at[2])
			e.Column = column + 1 // the library counts from 0
		}
		e.Message = e.Message[len(at[0]):]
	}
	e.Message = strings.TrimPrefix(e.Message, `executing "template" `)
	if key := missing.FindStringSubmatch(e.Message); key != nil {
		if group, ok := groups[key[1]]; ok {
			known := "there are none"
			if len(group) > 0 {
				known = "there are " + strings.Join(slices.Sorted(maps.Keys(group)), ", ")
			}
			e.Message = fmt.Sprintf("there is no %q in .%s: %s", key[2], key[1], known)
		}
	}
	return e
}
