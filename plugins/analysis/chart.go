// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"
)

// chartHeight is how many lines a chart has.
const chartHeight = 8

// chart draws the values of the evaluations as text that can be read without colour: a column for each evaluation, from
// the left, and lines where the limits are. It is empty when there are fewer than two values.
//
//	o  the median of an evaluation, within what is expected
//	X  the median of one that is not
//	|  from the least to the greatest sample
//	+  the median of what it is compared with
//	?  an evaluation without data, or whose query has failed
func (s *series) chart() string {
	low, high, values := s.scale()
	if values < 2 {
		return ""
	}
	grid := make([][]rune, chartHeight)
	for y := range grid {
		grid[y] = []rune(strings.Repeat(" ", len(s.Points)))
	}
	row := func(value float64) int {
		share := (value/2 - low/2) / (high/2 - low/2) // half of each, because the difference may have no number
		return chartHeight - 1 - int(math.Round(share*(chartHeight-1)))
	}
	for _, limit := range []*float64{s.Min, s.Max} {
		if limit != nil {
			line := grid[row(*limit)]
			for x := range line {
				line[x] = '-'
			}
		}
	}
	for x, p := range s.Points {
		s.column(grid, x, p, row)
	}
	return s.text(grid, row, low, high)
}

func (s *series) column(grid [][]rune, x int, p point, row func(float64) int) {
	if p.Empty {
		grid[chartHeight-1][x] = '?'
		return
	}
	for y := row(p.High); y <= row(p.Low); y++ {
		grid[y][x] = '|'
	}
	if p.Other != nil {
		grid[row(*p.Other)][x] = '+'
	}
	mark := 'o'
	if p.Verdict == bad {
		mark = 'X'
	}
	grid[row(p.Value)][x] = mark
}

// scale is the range of values that a chart shows, and how many evaluations have some.
func (s *series) scale() (low, high float64, values int) {
	low, high = math.Inf(1), math.Inf(-1)
	include := func(value float64) { low, high = min(low, value), max(high, value) }
	for _, p := range s.Points {
		if p.Empty {
			continue
		}
		values++
		include(p.Low)
		include(p.High)
		if p.Other != nil {
			include(*p.Other)
		}
	}
	for _, limit := range []*float64{s.Min, s.Max} {
		if limit != nil {
			include(*limit)
		}
	}
	switch margin := math.Abs(low) / 2; { // a scale that suits a single value
	case low == high && margin > 0:
		low, high = max(low-margin, -math.MaxFloat64), min(high+margin, math.MaxFloat64)
	case low == high:
		low, high = -1, 1
	}
	return low, high, values
}

// text writes the lines with their scale, and a legend.
func (s *series) text(grid [][]rune, row func(float64) int, low, high float64) string {
	labels := make([]string, chartHeight)
	labels[0], labels[chartHeight-1] = number(high), number(low)
	for _, limit := range []struct {
		name  string
		value *float64
	}{{"min", s.Min}, {"max", s.Max}} {
		if limit.value != nil {
			labels[row(*limit.value)] = limit.name + " " + number(*limit.value)
		}
	}
	width := 0
	for _, label := range labels {
		width = max(width, len(label))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n", s.Name, s.Query)
	for y, line := range grid {
		fmt.Fprintf(&text, "%*s ┤%s\n", width, labels[y], strings.TrimRight(string(line), " "))
	}
	fmt.Fprintf(&text, "%*s  o median, X bad, | samples, ? no value", width, "")
	if s.Strategy != "" && s.Min == nil && s.Max == nil {
		text.WriteString(", + compared with")
	}
	return text.String()
}
