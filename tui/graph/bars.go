// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"math"
	"time"
)

// took formats a duration in at most 7 columns up to 1,000 days.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 100*time.Hour:
		return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd %02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// halves returns the half cells [from, to) of a bar on an axis of width cells.
func halves(start, duration, total time.Duration, width int) (from, to int) {
	scale := func(d time.Duration) int {
		return int(math.RoundToEven(float64(2*width) * (float64(d) / float64(total))))
	}
	from = min(max(0, scale(start)), 2*width-1)
	return from, min(max(from+1, scale(start+duration)), 2*width)
}

// bar draws the half cells [from, to).
func (c *canvas) bar(x, y, from, to int, role Role, bold bool) {
	for i := from / 2; 2*i < to; i++ {
		left, right := from <= 2*i, 2*i+1 < to
		switch {
		case left && right:
			c.glyph(x+i, y, '━', role, bold)
		case left:
			c.glyph(x+i, y, '╸', role, bold)
		case right:
			c.glyph(x+i, y, '╺', role, bold)
		}
	}
}

// barStyle is green and bold on the critical path, grey on other stages that are done.
func barStyle(s Stage, critical bool) (Role, bool) {
	if s.Status == Done && !critical {
		return Faint, false
	}
	return s.Status.role(), critical
}

// critical marks the chain of needs with the largest sum of durations, by position.
func (d drawing) critical() []bool {
	marks := make([]bool, len(d.stages))
	sum := make([]time.Duration, len(d.stages))
	before := make([]int, len(d.stages))
	order := d.topological()
	end := -1
	for _, i := range order {
		before[i] = -1
		for _, need := range d.graph.Needs[i] {
			if sum[need] > sum[i] {
				sum[i], before[i] = sum[need], need
			}
		}
		sum[i] += d.stages[i].Duration
		if end < 0 || sum[i] > sum[end] {
			end = i
		}
	}
	for i := end; i >= 0; i = before[i] {
		marks[i] = d.stages[i].kind != joint && d.stages[i].Duration > 0
	}
	return marks
}

// CriticalPath returns the length of the chain of needs with the largest sum of durations.
func CriticalPath(stages []Stage) time.Duration {
	forward, _ := split(stages)
	d := newDrawing(forward)
	var sum time.Duration
	for i, on := range d.critical() {
		if on {
			sum += d.stages[i].Duration
		}
	}
	return sum
}

// topological returns the positions so that needs come first.
func (d drawing) topological() []int {
	order := make([]int, 0, len(d.stages))
	open := make([]int, len(d.stages))
	for i, needs := range d.graph.Needs {
		if open[i] = len(needs); open[i] == 0 {
			order = append(order, i)
		}
	}
	for at := 0; at < len(order); at++ {
		for _, next := range d.graph.Followers[order[at]] {
			if open[next]--; open[next] == 0 {
				order = append(order, next)
			}
		}
	}
	return order
}

func total(stages []Stage) time.Duration {
	longest := time.Second
	for _, stage := range stages {
		longest = max(longest, stage.Start+stage.Duration)
	}
	return longest
}
