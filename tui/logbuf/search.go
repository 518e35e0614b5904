// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import (
	"context"
	"strings"
	"unicode"
)

// Query is a text to look for. Without a capital letter it ignores case.
type Query string

// Matches returns the places of q in line, as byte ranges that do not overlap.
func (q Query) Matches(line string) [][2]int {
	needle := string(q)
	if needle == "" {
		return nil
	}
	if !strings.ContainsFunc(needle, unicode.IsUpper) {
		folded := strings.ToLower(line)
		if len(folded) != len(line) {
			// A few letters change their length; places would no longer fit.
			folded = foldASCII(line)
		}
		line = folded
	}
	var found [][2]int
	for from := 0; ; {
		i := strings.Index(line[from:], needle)
		if i < 0 {
			return found
		}
		found = append(found, [2]int{from + i, from + i + len(needle)})
		from += i + len(needle)
	}
}

func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// searchLines is how many lines are looked at before the lock is given to others.
const searchLines = 1024

// Find returns the number of the nearest line that matches: at or after from going forward, at or
// before it going backward, and on from the other end when there is none. found is false when no
// line matches or ctx ended.
func (b *Buffer) Find(ctx context.Context, q Query, from int, forward bool) (line int, found bool) {
	first, next := b.Span()
	from = min(max(from, first), max(first, next-1))
	if forward {
		if line, found = b.scan(ctx, q, from, next); !found {
			line, found = b.scan(ctx, q, first, from)
		}
		return line, found
	}
	if line, found = b.scanBack(ctx, q, first, from+1); !found {
		line, found = b.scanBack(ctx, q, from+1, next)
	}
	return line, found
}

func (b *Buffer) scan(ctx context.Context, q Query, from, to int) (int, bool) {
	for from < to && ctx.Err() == nil {
		n := min(searchLines, to-from)
		lines := b.Lines(from, n)
		for i, line := range lines {
			if len(q.Matches(line.Text)) > 0 {
				return from + i, true
			}
		}
		from += n
	}
	return 0, false
}

func (b *Buffer) scanBack(ctx context.Context, q Query, from, to int) (int, bool) {
	for from < to && ctx.Err() == nil {
		start := max(from, to-searchLines)
		lines := b.Lines(start, to-start)
		for i := len(lines) - 1; i >= 0; i-- {
			if len(q.Matches(lines[i].Text)) > 0 {
				return start + i, true
			}
		}
		to = start
	}
	return 0, false
}
