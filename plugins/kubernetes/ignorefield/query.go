// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ignorefield

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxNested bounds the parentheses of a condition.
const maxNested = 16

// query reads the part of jq that selects fields: .a.b, ."a b", ["a b"], [0], [], ?, and | select(condition).
type query struct {
	text   string
	at     int
	nested int
}

func parseQuery(text string) ([]segment, error) {
	q := &query{text: text}
	path, err := q.pipeline()
	if err != nil {
		return nil, fmt.Errorf("column %d: %w", q.at+1, err)
	}
	return path, nil
}

func (q *query) pipeline() (path []segment, err error) {
	for more := true; more; more = q.take("|") {
		start := len(path)
		if q.word("select") {
			holds, err := q.selection()
			if err != nil {
				return nil, err
			}
			path = append(path, segment{where: here, holds: holds})
		}
		steps, err := q.steps()
		if err != nil {
			return nil, err
		}
		if path = append(path, steps...); len(path) == start {
			return nil, errors.New("want a path such as .spec, or select(…)")
		}
	}
	if q.space(); q.at < len(q.text) {
		return nil, errors.New("only paths and select(…) are read here, separated by |")
	}
	return path, nil
}

// steps reads .a["b"][0][]? as far as it goes.
func (q *query) steps() (path []segment, err error) {
	for {
		q.space()
		switch {
		case q.take("?"):
			if len(path) == 0 {
				return nil, errors.New("a ? stands after a path")
			}
		case q.take("["):
			s, err := q.bracket()
			if err != nil {
				return nil, err
			}
			path = append(path, s)
		case q.take("."):
			switch s, found, err := q.name(); {
			case err != nil:
				return nil, err
			case found:
				path = append(path, s)
			case !strings.HasPrefix(q.text[q.at:], "["):
				return nil, errors.New("a name is missing after the dot")
			}
		default:
			return path, nil
		}
	}
}

func (q *query) name() (s segment, found bool, err error) {
	if strings.HasPrefix(q.text[q.at:], `"`) {
		text, err := q.quoted()
		return segment{where: inMap, text: text, literal: true}, true, err
	}
	start := q.at
	for q.at < len(q.text) && isNameByte(q.text[q.at]) {
		q.at++
	}
	return segment{where: inMap, text: q.text[start:q.at], literal: true}, q.at > start, nil
}

func isNameByte(b byte) bool {
	return b == '_' || b == '-' || b == '$' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

func (q *query) bracket() (s segment, err error) {
	if q.take("]") {
		return segment{where: inList, text: "*"}, nil
	}
	q.space()
	if strings.HasPrefix(q.text[q.at:], `"`) {
		s = segment{where: inMap, literal: true}
		if s.text, err = q.quoted(); err != nil {
			return s, err
		}
	} else {
		start := q.at
		for q.at < len(q.text) && '0' <= q.text[q.at] && q.text[q.at] <= '9' {
			q.at++
		}
		if s = (segment{where: inList, text: q.text[start:q.at], literal: true}); q.at == start {
			return s, errors.New("want [], [0] or [\"name\"]")
		}
	}
	if !q.take("]") {
		return s, errors.New("a ] is missing")
	}
	return s, nil
}

func (q *query) quoted() (string, error) {
	prefix, err := strconv.QuotedPrefix(q.text[q.at:])
	if err != nil {
		return "", errors.New("a text has no end")
	}
	q.at += len(prefix)
	return strconv.Unquote(prefix)
}

// take steps over a token, and reports whether it is there.
func (q *query) take(token string) bool {
	q.space()
	if !strings.HasPrefix(q.text[q.at:], token) {
		return false
	}
	q.at += len(token)
	return true
}

// word is take for a token that ends where a name ends.
func (q *query) word(token string) bool {
	q.space()
	if rest, ok := strings.CutPrefix(q.text[q.at:], token); !ok || rest != "" && isNameByte(rest[0]) {
		return false
	}
	q.at += len(token)
	return true
}

func (q *query) space() {
	for q.at < len(q.text) && (q.text[q.at] == ' ' || q.text[q.at] == '\t' || q.text[q.at] == '\n') {
		q.at++
	}
}
