// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ignorefield

import (
	"errors"
	"fmt"
	"strings"
)

// maxRule bounds a rule, in bytes: the longest name of an object and the longest path of a difference.
const maxRule = 4 << 10

// Rule takes fields of objects out of drift detection.
type Rule struct {
	// Object is the part before "#", as it was written.
	Object string
	// Field is the part after "#", as it was written.
	Field string
	// Manager is a pattern for field managers; empty for a rule with a path.
	Manager string

	apiVersion, kind, namespace, name string
	path                              []segment
	// plain is a path without quotes, for names with dots as PipeCD writes them.
	plain string
}

// Parse reads a rule.
func Parse(text string) (Rule, error) {
	object, field, _ := strings.Cut(text, "#")
	parts := strings.SplitN(object, ":", 4)
	switch {
	case len(text) > maxRule:
		return Rule{}, fmt.Errorf("is longer than %d bytes", maxRule)
	case len(parts) != 4 || field == "":
		return Rule{}, errors.New("is not apiVersion:kind:namespace:name#path")
	}
	r := Rule{Object: object, Field: field, apiVersion: parts[0], kind: strings.ToLower(parts[1]),
		namespace: foldNamespace(parts[2]), name: strings.ToLower(parts[3])}
	var err error
	switch manager, isManager := strings.CutPrefix(field, "manager="); {
	case isManager && manager == "":
		err = errors.New("manager= needs the name of a field manager")
	case isManager:
		r.Manager = manager
	case field[0] == '/':
		r.path = pointer(field)
	case field[0] == '.':
		r.path, err = parseQuery(field)
	default:
		r.plain = strings.NewReplacer("[", ".", "]", "").Replace(field)
		r.path, err = parsePath(field)
	}
	if err != nil {
		return Rule{}, fmt.Errorf("cannot read %q: %w", field, err)
	}
	return r, nil
}

// Matches reports whether the rule names an object. Case does not count, and "default" is no namespace (PipeCD v1).
func (r Rule) Matches(apiVersion, kind, namespace, name string) bool {
	return glob(r.apiVersion, apiVersion) && glob(r.kind, strings.ToLower(kind)) &&
		glob(r.namespace, foldNamespace(namespace)) && glob(r.name, strings.ToLower(name))
}

// MatchesManager reports whether the rule is for the fields of a manager.
func (r Rule) MatchesManager(manager string) bool { return r.Manager != "" && glob(r.Manager, manager) }

func foldNamespace(namespace string) string {
	if namespace = strings.ToLower(namespace); namespace == "default" {
		return ""
	}
	return namespace
}

// glob compares a text with a pattern in which each * stands for any text.
func glob(pattern, text string) bool {
	first, rest, found := strings.Cut(pattern, "*")
	if !found {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	for {
		middle, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, rest)
		}
		_, text, ok = strings.Cut(text, middle)
		if !ok {
			return false
		}
		rest = after
	}
}
