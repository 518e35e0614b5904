// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
)

// How well a word of a query is found. What is found in one piece comes before any match by scattered letters, then
// the beginning of a word counts more than its middle, and the first field, the title, more than the others.
const (
	onePiece  = 40_000
	beginning = 20_000
	inTitle   = 10_000
)

// matches reports whether each word of the query is found in one of the fields: in one piece, or letter by letter
// within one word of the field.
func (f *find) matches(fields ...string) bool {
	_, found := score(f.query, fields...)
	return found
}

// ranked returns the items that match the query, the best first; items that match equally well keep their order.
func ranked[T any](f *find, items []T, fields func(T) []string) []T {
	if strings.TrimSpace(f.query) == "" {
		return slices.Clone(items)
	}
	type match struct {
		item T
		rank int
	}
	var found []match
	for _, item := range items {
		if points, ok := score(f.query, fields(item)...); ok {
			found = append(found, match{item, points / inTitle})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return b.rank - a.rank })
	list := make([]T, len(found))
	for i, one := range found {
		list[i] = one.item
	}
	return list
}

// score says how well the words of query are found in the fields: more is better. The first field is the title.
func score(query string, fields ...string) (total int, found bool) {
	for word := range strings.FieldsSeq(query) {
		points, found := scoreWord(strings.ToLower(word), fields)
		if !found {
			return 0, false
		}
		total += points
	}
	return total, true
}

// scoreWord is score for one word in lower case.
func scoreWord(word string, fields []string) (best int, found bool) {
	for i, field := range fields {
		points, ok := scorePiece(word, strings.ToLower(field))
		if !ok {
			var scattered fuzzy.Matches
			if scattered = fuzzy.Find(word, strings.Fields(field)); len(scattered) == 0 {
				continue
			}
			points = max(-inTitle/2, min(scattered[0].Score, inTitle/2))
		} else if i == 0 {
			points += inTitle
		}
		if !found || points > best {
			best, found = points, true
		}
	}
	return best, found
}

// scorePiece looks for a word in one piece, at the beginning of a word if there is such a place.
func scorePiece(word, field string) (points int, found bool) {
	for from := 0; from <= len(field); {
		at := strings.Index(field[from:], word)
		if at < 0 {
			break
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(field[:at])
		if at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return onePiece + beginning + max(0, 100-at), true
		}
		points, found = max(points, onePiece+max(0, 100-at)), true
		from = at + max(1, len(word))
	}
	return points, found
}
