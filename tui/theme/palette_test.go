// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContrastIsThatOfWCAG(t *testing.T) {
	t.Parallel()
	black, white := Color{}, Color{255, 255, 255}
	require.InDelta(t, 21, black.Contrast(white), 1e-9)
	require.InDelta(t, 1, white.Contrast(white), 1e-9)
	grey, err := ParseColor("#767676") // the darkest grey that is readable on white, as WCAG's examples have it
	require.NoError(t, err)
	require.InDelta(t, 4.54, white.Contrast(grey), 0.005)
	require.True(t, Light(white))
	require.False(t, Light(black))
}

func TestEveryThemeIsReadable(t *testing.T) {
	t.Parallel()
	for name, p := range builtIn() {
		small, indexes, _ := p.reduce()
		for variant, p := range map[string]palette{"true colour": p, "256 colours": small} {
			for token := range tokens {
				ratio, behind := p.worst(token, p.colors[token])
				if token != selection {
					require.GreaterOrEqualf(t, ratio, token.needs(), "%s, %s: %s %s on %s", name, variant,
						tokenNames[token], p.colors[token], behind)
				}
			}
		}
		for token, index := range indexes {
			require.GreaterOrEqualf(t, index, firstIndex, "%s: %s", name, tokenNames[token])
		}
	}
}

func TestThe256ColoursAreThoseOfXterm(t *testing.T) {
	t.Parallel()
	for index, want := range map[int]string{16: "#000000", 21: "#0000ff", 67: "#5f87af", 196: "#ff0000",
		231: "#ffffff", 232: "#080808", 255: "#eeeeee"} {
		require.Equal(t, want, indexed(index).String())
	}
	require.Equal(t, 196, nearest(Color{250, 5, 5}, func(Color) bool { return true }))
	require.Equal(t, 231, nearest(Color{250, 5, 5}, func(c Color) bool { return c == Color{255, 255, 255} }))
}

// Linear RGB as people without one kind of cone see it. Source: Machado, Oliveira and Fernandes, A
// Physiologically-based Model for Simulation of Color Vision Deficiency, 2009, severity 1.
var simulations = map[string][3][3]float64{
	"protan": {{0.152, 1.053, -0.205}, {0.115, 0.786, 0.099}, {-0.004, -0.048, 1.052}},
	"deutan": {{0.367, 0.861, -0.228}, {0.280, 0.673, 0.047}, {-0.012, 0.043, 0.969}},
	"tritan": {{1.256, -0.077, -0.179}, {-0.078, 0.931, 0.148}, {0.005, 0.691, 0.304}},
}

func simulate(c Color, matrix [3][3]float64) lab {
	light := c.linear()
	var seen [3]float64
	for i, row := range matrix {
		seen[i] = min(1, max(0, row[0]*light[0]+row[1]*light[1]+row[2]*light[2]))
	}
	return labOf(seen)
}

func TestStatesDifferForPeopleWithAColourVisionDeficiency(t *testing.T) {
	t.Parallel()
	states := []token{ok, running, waiting, failed, rollback}
	least := func(p palette) float64 {
		smallest := math.Inf(1)
		for _, matrix := range simulations {
			for i, a := range states {
				for _, b := range states[i+1:] {
					smallest = min(smallest, simulate(p.colors[a], matrix).distance(simulate(p.colors[b], matrix)))
				}
			}
		}
		return smallest
	}
	for _, name := range []string{colorBlindDarkName, colorBlindLightName} {
		require.GreaterOrEqual(t, least(builtIn()[name]), 15.5, name)
	}
	require.Less(t, least(builtIn()[darkName]), 15.5, "the test sees a difference between themes")
}

func TestTheNamesAreThoseOfThemes(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		_, err := Choose(name)
		require.NoError(t, err, name)
	}
	for name := range builtIn() {
		require.True(t, slices.Contains(Names(), name), name)
	}
}
