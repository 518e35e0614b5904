// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
)

// openPanes are the panes with values to compare, by name.
var openPanes = map[string]func(t *testing.T, width, height int, environ ...string) *model{
	"drift": drifted,
	"drift-open": func(t *testing.T, width, height int, environ ...string) *model {
		m := drifted(t, width, height, environ...)
		m.key("enter")
		return m
	},
	"insights": measuring,
	"preview":  previewed,
	"branches": func(t *testing.T, width, height int, environ ...string) *model {
		m := previewed(t, width, height, environ...)
		m.key("esc", "esc")
		return m
	},
}

func TestThePanesFitEverySizeAndNeedNoColours(t *testing.T) {
	t.Parallel()
	for name, draw := range openPanes {
		for _, size := range [][2]int{{20, 6}, {24, 9}, {40, 12}, {60, 20}, {72, 20}, {80, 24}, {100, 30}, {130, 30},
			{160, 50}, {300, 100}} {
			for _, environ := range []string{"", "NO_COLOR=1", "PIPEDECK_ASCII=1", "PIPEDECK_THEME=high-contrast"} {
				t.Run(fmt.Sprintf("%s %dx%d %s", name, size[0], size[1], environ), func(t *testing.T) {
					t.Parallel()
					m := draw(t, size[0], size[1], environ)
					screen := m.View().Content
					lines := strings.Split(screen, "\n")
					require.Len(t, lines, size[1])
					for _, line := range lines {
						require.Equal(t, size[0], ansi.StringWidth(line), "%q", line)
					}
					if environ == "NO_COLOR=1" {
						require.NotRegexp(t, `\x1b\[[0-9;]*3[0-9]m`, screen)
					}
					if environ == "PIPEDECK_ASCII=1" {
						for _, r := range ansi.Strip(screen) {
							require.Less(t, r, rune(0x80), "%q in ASCII", r)
						}
					}
				})
			}
		}
	}
}

func TestScreensOfThePanes(t *testing.T) {
	t.Parallel()
	for name, draw := range openPanes {
		for _, size := range [][2]int{{100, 36}, {80, 24}, {40, 14}, {20, 6}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				draw(t, size[0], size[1]).shows(t, fmt.Sprintf("%s-%dx%d", name, size[0], size[1]))
			})
		}
	}
}
