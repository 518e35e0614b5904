// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// step leads from a value to values in it.
type step struct {
	// name is the key to follow; index the number of the item when name is not set.
	name  string
	index int
	// all follows every item or key, deep looks for the name at any depth.
	all, deep bool
}

// parsePath reads $.a.b[0], $['a.b'], $.'a.b', $.a[*].b and $..b. The $ may be missing when loose.
func parsePath(text string, loose bool) ([]step, error) {
	rest, rooted := strings.CutPrefix(text, "$")
	if !rooted && !loose {
		return nil, errors.New(`the path has to start with "$", as in $.spec.image`)
	}
	if !rooted {
		rest = "." + rest
	}
	var steps []step
	for rest != "" {
		if len(steps) >= maxDepth {
			return nil, fmt.Errorf("the path has more than %d parts", maxDepth)
		}
		var s step
		var err error
		switch {
		case strings.HasPrefix(rest, ".."):
			s.name, rest, err = nameIn(rest[2:])
			s.deep = true
		case rest[0] == '.':
			s.name, rest, err = nameIn(rest[1:])
			s.all = s.name == "*"
		case rest[0] == '[':
			s, rest, err = bracket(rest[1:])
		default:
			err = fmt.Errorf("%q is neither .name nor [number]", rest)
		}
		if err != nil {
			return nil, fmt.Errorf("the path cannot be read: %w", err)
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return nil, errors.New("the path names the whole file; name a value in it")
	}
	return steps, nil
}

// nameIn reads a key, in single quotes or up to the next dot or bracket.
func nameIn(text string) (name, rest string, err error) {
	if quoted, ok := strings.CutPrefix(text, "'"); ok {
		return untilQuote(quoted, '\'')
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return "", "", errors.New("a name is missing after a dot")
	}
	return text[:end], text[end:], nil
}

func untilQuote(text string, quote byte) (name, rest string, err error) {
	end := strings.IndexByte(text, quote)
	if end <= 0 {
		return "", "", errors.New("a quoted name is empty or does not end")
	}
	return text[:end], text[end+1:], nil
}

// bracket reads what follows a bracket: a number, a star or a quoted name.
func bracket(text string) (s step, rest string, err error) {
	if text != "" && (text[0] == '\'' || text[0] == '"') {
		s.name, rest, err = untilQuote(text[1:], text[0])
		if err != nil {
			return step{}, "", err
		}
		rest, closed := strings.CutPrefix(rest, "]")
		if !closed {
			return step{}, "", errors.New("a bracket is not closed")
		}
		return s, rest, nil
	}
	inside, rest, closed := strings.Cut(text, "]")
	if !closed {
		return step{}, "", errors.New("a bracket is not closed")
	}
	if inside == "*" {
		return step{all: true}, rest, nil
	}
	index, err := strconv.Atoi(inside)
	if err != nil || index < 0 {
		return step{}, "", fmt.Errorf("[%s] is not the number of an item", inside)
	}
	return step{index: index}, rest, nil
}
