// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compare

// Repeats is how many neighbours of series stand for one sample, 1 where each is its own. A service that is asked in
// shorter steps than it gets samples repeats each until the next one, which shows as runs of equal values of almost the
// same length. The first and the last run of a series may be cut, and do not count.
func Repeats(series [][]float64) int {
	lengths, shortest, longest := map[int]int{}, 0, 0
	for _, values := range series {
		for _, length := range inner(runs(values)) {
			if lengths[length]++; shortest == 0 || length < shortest {
				shortest = length
			}
			longest = max(longest, length)
		}
	}
	longer := lengths[shortest+1]
	switch {
	case shortest > 1 && longer > 0:
		return shortest + 1
	case shortest > 1:
		return shortest
	case shortest == 1 && longest == 2 && longer > lengths[1]:
		return 2 // A few equal neighbours are by chance.
	}
	return 1
}

// runs are the lengths of the runs of equal values.
func runs(values []float64) []int {
	var lengths []int
	for i, value := range values {
		if i == 0 || value != values[i-1] {
			lengths = append(lengths, 0)
		}
		lengths[len(lengths)-1]++
	}
	return lengths
}

func inner(lengths []int) []int {
	if len(lengths) < 3 {
		return nil
	}
	return lengths[1 : len(lengths)-1]
}

// Every returns each n-th value of each series.
func Every(series [][]float64, n int) []float64 {
	var values []float64
	for _, one := range series {
		for i := 0; i < len(one); i += n {
			values = append(values, one[i])
		}
	}
	return values
}
