// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ignorefield

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// condition is what stands in select(…): it judges one value.
type condition func(value any) bool

// selection reads "(condition)".
func (q *query) selection() (condition, error) {
	if q.nested++; q.nested > maxNested {
		return nil, errors.New("too many parentheses")
	}
	defer func() { q.nested-- }()
	if !q.take("(") {
		return nil, errors.New("want ( after select")
	}
	holds, err := q.anyOf()
	if err == nil && !q.take(")") {
		err = errors.New("want ), and, or or")
	}
	return holds, err
}

func (q *query) anyOf() (condition, error) {
	holds, err := q.allOf()
	for err == nil && q.word("or") {
		var other condition
		left := holds
		if other, err = q.allOf(); err == nil {
			holds = func(value any) bool { return left(value) || other(value) }
		}
	}
	return holds, err
}

func (q *query) allOf() (condition, error) {
	holds, err := q.test()
	for err == nil && q.word("and") {
		var other condition
		left := holds
		if other, err = q.test(); err == nil {
			holds = func(value any) bool { return left(value) && other(value) }
		}
	}
	return holds, err
}

// test reads one comparison: .name == "web", .key | startswith("a"), or a condition in parentheses.
func (q *query) test() (condition, error) {
	if q.space(); strings.HasPrefix(q.text[q.at:], "(") {
		return q.selection()
	}
	var path []segment
	if !q.isSelf() {
		var err error
		if path, err = q.steps(); err != nil {
			return nil, err
		}
		if len(path) == 0 {
			return nil, errors.New("want a comparison such as .name == \"web\"")
		}
	}
	var judge condition
	var err error
	switch {
	case q.take("=="):
		judge, err = q.equals(true)
	case q.take("!="):
		judge, err = q.equals(false)
	case q.take("|"):
		judge, err = q.function()
	default:
		err = errors.New("want == or != and a value, or | and startswith, endswith, contains or test")
	}
	return func(value any) bool { return judge(valueAt(value, path)) }, err
}

// isSelf reads a dot alone: the value itself.
func (q *query) isSelf() bool {
	rest, ok := strings.CutPrefix(q.text[q.at:], ".")
	if !ok || rest != "" && (isNameByte(rest[0]) || strings.ContainsRune(`["`, rune(rest[0]))) {
		return false
	}
	q.at++
	return true
}

func (q *query) equals(wanted bool) (condition, error) {
	q.space()
	end := q.at
	if strings.HasPrefix(q.text[q.at:], `"`) {
		text, err := q.quoted()
		return func(value any) bool { return (value == any(text)) == wanted }, err
	}
	for end < len(q.text) && (isNameByte(q.text[end]) || q.text[end] == '.') {
		end++
	}
	var literal any
	if err := json.Unmarshal([]byte(q.text[q.at:end]), &literal); err != nil {
		return nil, errors.New("want a text in quotes, a number, true, false or null")
	}
	q.at = end
	return func(value any) bool { return reflect.DeepEqual(number(value), literal) == wanted }, nil
}

// number makes all numbers those of JSON.
func number(value any) any {
	switch n := value.(type) {
	case int64:
		return float64(n)
	case int:
		return float64(n)
	}
	return value
}

// function reads a test of a text.
func (q *query) function() (condition, error) {
	for name, judge := range map[string]func(text, with string) bool{
		"startswith": strings.HasPrefix, "endswith": strings.HasSuffix, "contains": strings.Contains, "test": nil,
	} {
		if !q.word(name) {
			continue
		}
		if !q.take("(") {
			return nil, fmt.Errorf("want (\"text\") after %s", name)
		}
		q.space()
		with, err := q.quoted()
		if err != nil || !q.take(")") {
			return nil, fmt.Errorf("want (\"text\") after %s", name)
		}
		if judge == nil {
			expression, err := regexp.Compile(with)
			if err != nil {
				return nil, err
			}
			judge = func(text, _ string) bool { return expression.MatchString(text) }
		}
		return func(value any) bool {
			text, isText := value.(string)
			return isText && judge(text, with)
		}, nil
	}
	return nil, errors.New("want startswith, endswith, contains or test")
}

// valueAt returns the value of a path without wildcards; nil when there is none.
func valueAt(value any, path []segment) any {
	for _, s := range path {
		switch of := value.(type) {
		case map[string]any:
			value = of[s.text]
		case []any:
			value = nil
			for i, each := range of {
				if s.where != inMap && s.matchesElement(NameOf(each), i) {
					value = each
					break
				}
			}
		default:
			return nil
		}
	}
	return value
}

// NameOf returns the name of an element of a list; empty when it has none.
func NameOf(element any) string {
	fields, _ := element.(map[string]any)
	name, _ := fields["name"].(string)
	return name
}
