// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// limit is what a figure is held against. Nothing fails by it: it is printed next to.
type limit struct {
	// of is what is compared: "median", "p99" or "max".
	of string
	// below is in the unit of the figure.
	below float64
}

// enoughForP99 is the number of samples from which the 99th percentile is not just the maximum.
const enoughForP99 = 100

// figures prints the median and the extremes of what was measured, in milliseconds.
func figures(name string, measured []time.Duration, limits ...limit) {
	values := make([]float64, 0, len(measured))
	for _, d := range measured {
		values = append(values, float64(d.Microseconds())/1000)
	}
	values = slices.Sorted(slices.Values(values))
	numbers(name, "ms", values, limits...)
}

// numbers prints the same of any unit.
func numbers(name, unit string, measured []float64, limits ...limit) {
	slices.Sort(measured)
	n := len(measured)
	known := map[string]float64{"min": measured[0], "median": measured[n/2], "max": measured[n-1]}
	line := fmt.Sprintf("%-46s median %7.1f %s   min %7.1f   max %7.1f", name, known["median"], unit, known["min"],
		known["max"])
	if n >= enoughForP99 {
		known["p99"] = measured[(n*99+99)/100-1]
		line += fmt.Sprintf("   p99 %7.1f", known["p99"])
	}
	line += fmt.Sprintf("   n=%d", n)
	for _, l := range limits {
		line += verdict(l, known)
	}
	fmt.Println(strings.TrimRight(line, " "))
}

func verdict(l limit, known map[string]float64) string {
	value, measured := known[l.of]
	switch {
	case !measured:
		return fmt.Sprintf("   (%s < %g: not measured)", l.of, l.below)
	case value < l.below:
		return fmt.Sprintf("   (%s < %g: yes)", l.of, l.below)
	default:
		return fmt.Sprintf("   (%s < %g: NO)", l.of, l.below)
	}
}

// number prints one figure.
func number(name, unit string, value float64, limits ...limit) {
	line := fmt.Sprintf("%-46s        %7.1f %s", name, value, unit)
	for _, l := range limits {
		line += verdict(l, map[string]float64{l.of: value})
	}
	fmt.Println(line)
}

func percentile99(measured []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(measured))
	return sorted[(len(sorted)*99+99)/100-1]
}
