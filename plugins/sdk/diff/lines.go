// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"fmt"
	"strings"
)

const (
	// context is the number of equal lines around a change.
	context = 3
	// maxLines bounds the lines of a text that are compared one by one: the time grows with the product of both.
	maxLines = 2000
)

// Lines is the unified diff of two texts, with three lines around each change; empty when they are equal. names stand
// in its head. The parts between the equal beginnings and ends of texts may have 2000 lines each; larger ones are shown
// as replaced as a whole.
func Lines(before, after, nameBefore, nameAfter string) string {
	if before == after {
		return ""
	}
	edits := edit(split(before), split(after))
	var text strings.Builder
	fmt.Fprintf(&text, "--- %s\n+++ %s\n", nameBefore, nameAfter)
	for begin := 0; begin < len(edits); {
		if edits[begin].sign == ' ' {
			begin++
			continue
		}
		first, end := max(0, begin-context), hunkEnd(edits, begin)
		writeHunk(&text, edits, first, end)
		begin = end
	}
	return text.String()
}

// line is one line of the diff; at is how many lines of each text stand before it.
type line struct {
	sign     byte
	text     string
	at, atTo int
}

// noEnd follows a last line without a line end, as in other unified diffs.
const noEnd = "\n\\ No newline at end of file"

// split returns the lines without their ends; a last one without an end says so, which makes it another line.
func split(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	}
	lines[len(lines)-1] += noEnd
	return lines
}

// edit lists the lines of both texts in their order, by a longest common subsequence.
func edit(a, b []string) (edits []line) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	i, j := 0, 0
	put := func(sign byte) {
		one := line{sign: sign, at: i, atTo: j}
		if sign == '+' {
			one.text = b[j]
		} else {
			one.text = a[i]
		}
		if sign != '+' {
			i++
		}
		if sign != '-' {
			j++
		}
		edits = append(edits, one)
	}
	for range head {
		put(' ')
	}
	lengths := common(a[head:len(a)-tail], b[head:len(b)-tail])
	for i < len(a)-tail || j < len(b)-tail {
		switch {
		case i < len(a)-tail && j < len(b)-tail && a[i] == b[j] && lengths != nil:
			put(' ')
		case j == len(b)-tail,
			i < len(a)-tail && (lengths == nil || lengths[i-head+1][j-head] >= lengths[i-head][j-head+1]):
			put('-')
		default:
			put('+')
		}
	}
	for range tail {
		put(' ')
	}
	return edits
}

// common is the length of the longest common subsequence of the rests of both, from each pair of lines on; nil when
// they are too large.
func common(a, b []string) [][]int32 {
	if len(a) > maxLines || len(b) > maxLines {
		return nil
	}
	lengths := make([][]int32, len(a)+1)
	for i := range lengths {
		lengths[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	return lengths
}

// hunkEnd is the end of the hunk that a change begins: changes with at most twice the context between them are one.
func hunkEnd(edits []line, begin int) int {
	last := begin
	for i := begin; i < len(edits) && i-last <= 2*context; i++ {
		if edits[i].sign != ' ' {
			last = i
		}
	}
	return min(len(edits), last+context+1)
}

func writeHunk(text *strings.Builder, edits []line, first, end int) {
	var from, to int
	for _, one := range edits[first:end] {
		if one.sign != '+' {
			from++
		}
		if one.sign != '-' {
			to++
		}
	}
	fmt.Fprintf(text, "@@ -%s +%s @@\n", span(edits[first].at, from), span(edits[first].atTo, to))
	for _, one := range edits[first:end] {
		fmt.Fprintf(text, "%c%s\n", one.sign, one.text)
	}
}

// span is the place of a hunk in one of the texts, in the form of unified diffs.
func span(before, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprint(before + 1)
	default:
		return fmt.Sprintf("%d,%d", before+1, count)
	}
}
