// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import (
	"bytes"
	"regexp/syntax"
	"strings"
)

const (
	// maxNeedles bounds how many texts are looked for at once; more are slower than the expression.
	maxNeedles = 8
	// minNeedle is the least length of a text that is worth it.
	minNeedle = 2
)

// needles returns texts of which each match of the expression has one; none when there are no such texts. Where the
// expression ignores case they are in lower case.
func needles(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			text = strings.ToLower(text)
			for _, r := range text {
				if r >= 0x80 {
					return nil // the lower case of other letters is not that of foldASCII
				}
			}
		}
		return []string{text}
	case syntax.OpCapture, syntax.OpPlus:
		return needles(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needles(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if found := needles(sub); shortest(found) > shortest(best) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			found := needles(sub)
			if all = append(all, found...); shortest(found) < minNeedle || len(all) > maxNeedles {
				return nil
			}
		}
		return all
	}
	return nil
}

// shortest is the length of the shortest of the texts, 0 without any.
func shortest(texts []string) int {
	length := 0
	for i, text := range texts {
		if i == 0 || len(text) < length {
			length = len(text)
		}
	}
	return length
}

// finder looks for a text by the byte of it that is rarest.
type finder struct {
	needle []byte
	rare   int
}

// newFinders learns from a sample which bytes are rare.
func newFinders(needles []string, sample []byte) []finder {
	var counts [256]int
	for _, c := range sample {
		counts[c]++
	}
	finders := make([]finder, 0, len(needles))
	for _, needle := range needles {
		f := finder{needle: []byte(needle)}
		for i, c := range f.needle {
			if counts[c] < counts[f.needle[f.rare]] {
				f.rare = i
			}
		}
		finders = append(finders, f)
	}
	return finders
}

// index is the place of the first needle in text, or -1.
func (f finder) index(text []byte) int {
	for from := f.rare; from < len(text); {
		i := bytes.IndexByte(text[from:], f.needle[f.rare])
		if i < 0 {
			return -1
		}
		at := from + i - f.rare
		if bytes.HasPrefix(text[at:], f.needle) {
			return at
		}
		from += i + 1
	}
	return -1
}
