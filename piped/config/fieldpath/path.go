// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fieldpath

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxSteps bounds the parts of a path, as the nesting of the files is bounded.
const maxSteps = 1000

// Step leads from a value to values in it.
type Step struct {
	// Name is the key to follow; Index the number of the item when Name is empty.
	Name  string
	Index int
	// All follows every item or key, Deep looks for the name at any depth.
	All, Deep bool
}

// Parse reads $.a.b[0], $['a.b'], $.'a.b', $.a[*].b and $..b, which have one step at least. The $ may be missing when
// loose. The error says what cannot be read, and does not repeat the path.
func Parse(text string, loose bool) ([]Step, error) {
	rest, rooted := strings.CutPrefix(text, "$")
	if !rooted && !loose {
		return nil, errors.New(`the path has to start with "$", as in $.spec.image`)
	}
	if !rooted {
		rest = "." + rest
	}
	var steps []Step
	for rest != "" {
		if len(steps) >= maxSteps {
			return nil, fmt.Errorf("the path has more than %d parts", maxSteps)
		}
		var s Step
		var err error
		switch {
		case strings.HasPrefix(rest, ".."):
			s.Name, rest, err = nameIn(rest[2:])
			s.Deep = true
		case rest[0] == '.':
			s.Name, rest, err = nameIn(rest[1:])
			s.All = s.Name == "*"
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
func bracket(text string) (s Step, rest string, err error) {
	if text != "" && (text[0] == '\'' || text[0] == '"') {
		s.Name, rest, err = untilQuote(text[1:], text[0])
		if err != nil {
			return Step{}, "", err
		}
		rest, closed := strings.CutPrefix(rest, "]")
		if !closed {
			return Step{}, "", errors.New("a bracket is not closed")
		}
		return s, rest, nil
	}
	inside, rest, closed := strings.Cut(text, "]")
	if !closed {
		return Step{}, "", errors.New("a bracket is not closed")
	}
	if inside == "*" {
		return Step{All: true}, rest, nil
	}
	index, err := strconv.Atoi(inside)
	if err != nil || index < 0 {
		return Step{}, "", fmt.Errorf("[%s] is not the number of an item", inside)
	}
	return Step{Index: index}, rest, nil
}
