// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// match is what a request must have, all of it. A nil match is every request's.
type match []condition

// condition is one property of a request.
type condition struct {
	// kind orders rules: see rank.
	kind kind
	// length is how specific a path is.
	length int
	holds  func(*http.Request) bool
}

type kind int

const (
	exactPath kind = iota
	prefixPath
	regexPath
	method
	header
	query
)

func (m match) matches(r *http.Request) bool {
	for _, c := range m {
		if !c.holds(r) {
			return false
		}
	}
	return true
}

// rank orders matches as the Gateway API does, the higher first: an exact path, the longer prefix, a method, the number
// of headers, the number of query parameters. A regular expression comes between exact paths and prefixes.
func (m match) rank() []int {
	rank := make([]int, query+1)
	for _, c := range m {
		switch c.kind {
		case exactPath:
			rank[0] = 2
		case regexPath:
			rank[0] = 1
			rank[1] = c.length
		case prefixPath:
			rank[1] = c.length
		case method, header, query:
			rank[c.kind]++
		}
	}
	return rank
}

// How a text is compared, by the words of the Gateway API.
const (
	byExact  = "Exact"
	byPrefix = "PathPrefix"
	byRegex  = "RegularExpression"
	// byStart is Istio's prefix: of text, not of path elements.
	byStart = "Start"
)

// pathCondition holds for paths. A prefix ends at a path element: /a has /a/b under it and not /ab.
func pathCondition(how, value string) (condition, error) {
	switch how {
	case byExact:
		return condition{exactPath, len(value), func(r *http.Request) bool { return r.URL.Path == value }}, nil
	case byPrefix:
		prefix := strings.TrimRight(value, "/")
		return condition{prefixPath, len(prefix), func(r *http.Request) bool {
			rest, ok := strings.CutPrefix(r.URL.Path, prefix)
			return ok && (rest == "" || rest[0] == '/')
		}}, nil
	}
	holds, err := textCondition(how, value)
	return condition{regexPath, len(value), func(r *http.Request) bool { return holds(r.URL.Path) }}, err
}

// textCondition compares a text. Regular expressions are RE2 and hold for the whole text.
func textCondition(how, value string) (func(string) bool, error) {
	switch how {
	case "", byExact:
		return func(text string) bool { return text == value }, nil
	case byStart:
		return func(text string) bool { return strings.HasPrefix(text, value) }, nil
	case byRegex:
		expression, err := regexp.Compile("^(?:" + value + ")$")
		if err != nil {
			return func(string) bool { return false }, fmt.Errorf("read %q: %w", value, err)
		}
		return expression.MatchString, nil
	}
	return func(string) bool { return false }, fmt.Errorf("matches of type %s are not known here", how)
}

func methodCondition(name string) condition {
	return condition{kind: method, holds: func(r *http.Request) bool { return r.Method == name }}
}

// headerCondition holds for requests that have the header with such a value.
func headerCondition(how, name, value string) (condition, error) {
	holds, err := textCondition(how, value)
	separator := ","
	if strings.EqualFold(name, "Cookie") { // its cookies may come in several headers (RFC 9113)
		separator = "; "
	}
	return condition{kind: header, holds: func(r *http.Request) bool {
		values := r.Header.Values(name)
		return len(values) > 0 && holds(strings.Join(values, separator))
	}}, err
}

// cookieCondition holds for requests that have the cookie with that value.
func cookieCondition(name, value string) condition {
	return condition{kind: header, holds: func(r *http.Request) bool {
		cookie, err := r.Cookie(name)
		return err == nil && cookie.Value == value
	}}
}

func queryCondition(how, name, value string) (condition, error) {
	holds, err := textCondition(how, value)
	return condition{kind: query, holds: func(r *http.Request) bool {
		values := r.URL.Query()
		return values.Has(name) && holds(values.Get(name))
	}}, err
}
