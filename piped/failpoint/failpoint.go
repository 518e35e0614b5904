// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package failpoint

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Variable is the environment variable with the terms.
const Variable = "PIPED_FAILPOINTS"

// Set holds what happens at each point. Its methods may be called on nil and from several goroutines.
type Set struct {
	mu     sync.Mutex
	points map[string][]*term
}

type term struct {
	// left is how often the term still counts; unlimited when negative.
	left   int
	action func(context.Context) error
}

// Parse reads terms; empty ones give nil.
func Parse(text string) (*Set, error) {
	if text == "" {
		return nil, nil
	}
	s := &Set{points: map[string][]*term{}}
	for entry := range strings.SplitSeq(text, ";") {
		point, terms, found := strings.Cut(entry, "=")
		if !found || point == "" {
			return nil, fmt.Errorf("failpoint %q: want POINT=TERM", entry)
		}
		for t := range strings.SplitSeq(terms, "->") {
			parsed, err := parseTerm(t)
			if err != nil {
				return nil, fmt.Errorf("failpoint %s: %w", point, err)
			}
			s.points[point] = append(s.points[point], parsed)
		}
	}
	return s, nil
}

// Hit does what the terms of the point say. It returns the error of an error term, and the cause of ctx
// when that ends while the point holds.
func (s *Set) Hit(ctx context.Context, point string) error {
	if s == nil {
		return nil
	}
	if action := s.next(point); action != nil {
		return action(ctx)
	}
	return nil
}

func (s *Set) next(point string) func(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.points[point] {
		if t.left == 0 {
			continue
		}
		t.left--
		return t.action
	}
	return nil
}

func parseTerm(text string) (*term, error) {
	t := &term{left: -1}
	if count, rest, found := strings.Cut(text, "*"); found && !strings.Contains(count, "(") {
		n, err := strconv.ParseUint(count, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%q is not a count", count)
		}
		t.left, text = int(n), rest
	}
	name, argument, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	switch {
	case text == "off":
		t.action = func(context.Context) error { return nil }
	case text == "kill":
		t.action = func(context.Context) error { return kill() }
	case name == "error" && argument != "":
		t.action = func(context.Context) error { return errors.New(argument) }
	case name == "hold" && argument != "":
		t.action = func(ctx context.Context) error { return hold(ctx, argument) }
	default:
		return nil, fmt.Errorf("%q is no action: want off, kill, error(TEXT) or hold(PATH)", text)
	}
	return t, nil
}
