// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

// InSight returns the lines in sight as they are, neither wrapped nor cut, without their times.
func (v *Log) InSight() []string {
	if v.Buffer == nil {
		return nil
	}
	var lines []string
	for _, line := range v.Buffer.Lines(v.Place(), v.height) {
		lines = append(lines, line.Text)
	}
	return lines
}
