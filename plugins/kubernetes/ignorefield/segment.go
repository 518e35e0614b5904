// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ignorefield

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// where is what a segment steps into.
type where int

const (
	anywhere where = iota
	inMap
	inList
	// here does not step: the value has to fulfil a condition.
	here
)

// segment is one step of a path.
type segment struct {
	where where
	// text is a pattern, or itself when literal is set. In a list it is the name of an element or its number.
	text    string
	literal bool
	holds   condition
}

func (s segment) matches(text string) bool {
	return s.literal && s.text == text || !s.literal && glob(s.text, text)
}

func (s segment) matchesElement(name string, index int) bool {
	return s.matches(strconv.Itoa(index)) || name != "" && s.matches(name)
}

// pointer reads a JSON pointer (RFC 6901).
func pointer(text string) (path []segment) {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, name := range strings.Split(text[1:], "/") {
		path = append(path, segment{text: unescape.Replace(name), literal: true})
	}
	return path
}

// parsePath reads a path as messages print it: "spec.template.spec.containers[web].image" or
// "metadata.annotations[\"example.com/a\"]"; elements of lists may also be numbers between dots (PipeCD v1).
func parsePath(text string) (path []segment, err error) {
	for rest := text; rest != ""; {
		var s segment
		if s, rest, err = parseStep(rest); err != nil {
			return nil, err
		}
		path = append(path, s)
		switch {
		case rest == "." || strings.HasPrefix(rest, ".["):
			return nil, errors.New("a name is missing after a dot")
		case strings.HasPrefix(rest, "."):
			rest = rest[1:]
		case rest != "" && rest[0] != '[':
			return nil, fmt.Errorf("want . or [ before %q", rest)
		}
	}
	return path, nil
}

func parseStep(text string) (s segment, rest string, err error) {
	inner, bracketed := strings.CutPrefix(text, "[")
	if !bracketed {
		end := strings.IndexAny(text, ".[")
		if end < 0 {
			end = len(text)
		}
		if end == 0 {
			return s, "", errors.New("a name is missing before a dot")
		}
		return segment{text: text[:end]}, text[end:], nil
	}
	if quoted, err := strconv.QuotedPrefix(inner); err == nil {
		name, err := strconv.Unquote(quoted)
		rest, closed := strings.CutPrefix(inner[len(quoted):], "]")
		if err != nil || !closed {
			return s, "", fmt.Errorf("a ] is missing after %s", quoted)
		}
		return segment{where: inMap, text: name}, rest, nil
	}
	name, rest, closed := strings.Cut(inner, "]")
	if !closed || name == "" {
		return s, "", fmt.Errorf("want [NAME], [NUMBER], [*] or [\"NAME\"] in place of %q", text)
	}
	return segment{where: inList, text: name}, rest, nil
}
