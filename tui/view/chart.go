// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
)

const (
	// seriesKey is the metadata of a stage with the values of its metrics: a list of chart as JSON.
	seriesKey = "pipedeck/analysis-series"
	// chartHeight is how many lines a chart has; maxCharts bounds how many there are.
	chartHeight = 6
	maxCharts   = 12
	// scaleWidth is the width of the numbers to the left of a chart.
	scaleWidth = 11
)

// chart is one metric: its evaluations, the oldest first, and its limits.
type chart struct {
	Name   string       `json:"name"`
	Query  string       `json:"query"`
	Min    *float64     `json:"min"`
	Max    *float64     `json:"max"`
	Points []chartPoint `json:"points"`
}

// chartPoint is one evaluation: the least and the greatest sample, their median, and the median of what they are
// compared with.
type chartPoint struct {
	Low     float64  `json:"low"`
	High    float64  `json:"high"`
	Value   float64  `json:"value"`
	Other   *float64 `json:"other"`
	Verdict string   `json:"verdict"`
	Empty   bool     `json:"empty"`
}

// charts draws the metrics that an analysis has evaluated, in signs that need no colour.
func (v Inspector) charts(width int) []string {
	var all []chart
	if json.Unmarshal([]byte(v.Run.GetMetadata()[seriesKey]), &all) != nil || width < 2*scaleWidth {
		return nil // none, or one of another form, which the metadata shows
	}
	var lines []string
	for _, c := range all[:min(len(all), maxCharts)] {
		c.Points = c.Points[max(0, len(c.Points)-(width-scaleWidth-4)):]
		drawn := c.draw()
		if drawn == nil {
			continue
		}
		lines = append(lines, " "+text.Cut(v.Theme.Dim.Render(text.Line(c.Name)+":")+" "+text.Line(c.Query), width-2,
			v.Theme.Ellipsis))
		for _, line := range drawn {
			lines = append(lines, " "+line)
		}
	}
	if lines == nil {
		return nil
	}
	legend := v.wrapped(v.Theme.Dim.Render("o median, X bad, | samples, + compared with, - limit, ? no value"), width)
	return append(append(v.section("Metrics"), lines...), legend...)
}

// draw returns the lines of a chart, one column an evaluation; nil when no evaluation has a value.
func (c chart) draw() []string {
	low, high, found := c.scale()
	if !found {
		return nil
	}
	row := func(value float64) int { // halves, because the difference of two great numbers may have no number
		share := (value/2 - low/2) / (high/2 - low/2)
		return chartHeight - 1 - int(math.Round(share*(chartHeight-1)))
	}
	grid := make([][]rune, chartHeight)
	for y := range grid {
		grid[y] = []rune(strings.Repeat(" ", len(c.Points)))
	}
	labels := make([]string, chartHeight)
	labels[0], labels[chartHeight-1] = measure(high), measure(low)
	for _, limit := range []*float64{c.Min, c.Max} {
		if limit == nil {
			continue
		}
		labels[row(*limit)] = "- " + measure(*limit)
		for x := range c.Points {
			grid[row(*limit)][x] = '-'
		}
	}
	for x, p := range c.Points {
		p.mark(grid, x, row)
	}
	lines := make([]string, chartHeight)
	for y, line := range grid {
		lines[y] = strings.TrimRight(text.Pad(labels[y], scaleWidth, "")+"| "+string(line), " ")
	}
	return lines
}

// none is whether an evaluation has no value, or makes no sense.
func (p chartPoint) none() bool { return p.Empty || p.Low > p.High }

// mark writes the signs of an evaluation into its column.
func (p chartPoint) mark(grid [][]rune, x int, row func(float64) int) {
	if p.none() {
		grid[chartHeight-1][x] = '?'
		return
	}
	for y := row(p.High); y <= row(p.Low); y++ {
		grid[y][x] = '|'
	}
	if p.Other != nil {
		grid[row(*p.Other)][x] = '+'
	}
	sign := 'o'
	if p.Verdict == "bad" {
		sign = 'X'
	}
	grid[row(min(max(p.Value, p.Low), p.High))][x] = sign
}

// scale is the range of all values and limits, and whether there are values.
func (c chart) scale() (low, high float64, found bool) {
	low, high = math.Inf(1), math.Inf(-1)
	include := func(value float64) { low, high = min(low, value), max(high, value) }
	for _, p := range c.Points {
		if p.none() {
			continue
		}
		found = true
		include(p.Low)
		include(p.High)
		if p.Other != nil {
			include(*p.Other)
		}
	}
	for _, limit := range []*float64{c.Min, c.Max} {
		if limit != nil {
			include(*limit)
		}
	}
	if low/2 == high/2 {
		low, high = low-max(1, math.Abs(low)/2), high+max(1, math.Abs(high)/2)
	}
	return low, high, found
}

// measure writes a number in few signs. The greatest number stands for infinity, which is not a number of JSON.
func measure(value float64) string {
	if math.Abs(value) == math.MaxFloat64 {
		value *= 2
	}
	return strconv.FormatFloat(value, 'g', 4, 64)
}
