// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestTheLayoutCoversEveryCellOnce(t *testing.T) {
	t.Parallel()
	few := func(int, int) int { return 9 }
	many := func(int, int) int { return 70 }
	for name, need := range map[string]demand{
		"start-up":              {},
		"a list over the rest":  {main: true, plugins: 4},
		"few stages and a log":  {main: true, plugins: 1, stages: few},
		"many stages and a log": {main: true, plugins: 40, stages: many},
	} {
		for width := minWidth; width <= 300; width += 11 {
			for height := minHeight; height <= 100; height += 7 {
				need.wide = width >= wideWidth && height >= wideHeight
				l := arrange(width, height, need)
				covered := make([]int, width*height)
				all := []rect{l.header, l.status, l.footer, l.strip, l.applications, l.plugins, l.side, l.log}
				for _, r := range all {
					for y := r.y; y < r.y+r.height; y++ {
						for x := r.x; x < r.x+r.width; x++ {
							covered[y*width+x]++
						}
					}
				}
				for at, n := range covered {
					if n != 1 { // require would take minutes for so many cells
						t.Fatalf("%s at %dx%d: cell %d is covered %d times", name, width, height, at, n)
					}
				}
				if need.stages != nil {
					require.GreaterOrEqual(t, l.log.height, minLog)
				}
			}
		}
	}
}

func TestListsOpenOverTheOnlyColumn(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{72, 20}, {80, 24}, {99, 60}, {200, 29}} {
		m := waiting(t, 80, 24)
		second := decktest.Application()
		second.Id, second.Name, second.Deploying = "app-2", "search", false
		second.Health = deckv1.HealthStatus_HEALTH_STATUS_OTHER
		m.receive(second)
		screen := m.exact(t, "main", size[0], size[1])
		strip := strings.Split(screen, "\n")[1]
		require.Equal(t, " ◆ hello-world   ✗ search", strings.TrimRight(strip, " "), "%v", size)
		require.Contains(t, screen, "press a to approve")
		require.Contains(t, screen, "3 Log")
		for keys, pane := range map[string][]string{"1": {"1 Applications", "unhealthy"}, "4": {"last output"},
			"e": {"Preflight"}, "d": {"Deployments of"}, "i": {"Stage WAIT_APPROVAL"}} {
			m.key(keys)
			over := m.exact(t, keys, size[0], size[1])
			for _, words := range pane {
				require.Contains(t, over, words, "%v %v", keys, size)
			}
			require.Equal(t, strip, strings.Split(over, "\n")[1], "the strip stays")
			require.NotContains(t, over, "3 Log")
			m.key("2")
			require.Equal(t, screen, m.exact(t, keys, size[0], size[1]))
		}
		m.key("1", "down", "enter")
		require.Equal(t, "app-2", m.chosen.app)
		require.Contains(t, m.exact(t, "the other", size[0], size[1]), "2 Deployment · search")
	}
}

func TestPartsStandNextToEachOther(t *testing.T) {
	t.Parallel()
	require.Equal(t, "ab\ncd\nee", compose(3, []part{
		{rect{0, 0, 1, 2}, "a\nc"}, {rect{1, 0, 1, 2}, "b\nd"}, {rect{0, 2, 2, 1}, "ee"},
	}))
}

func TestTheLastOverlayHasTheKeys(t *testing.T) {
	t.Parallel()
	var o overlays
	require.Nil(t, o.top())
	first, second := &dialog{title: "first"}, &dialog{title: "second"}
	o.push(first)
	o.push(second)
	require.Same(t, second, o.top())
	o.pop()
	require.Same(t, first, o.top())
	o.push(second)
	o.replace(first)
	o.pop()
	require.Nil(t, o.top(), "replace closes what is below, too")
	require.Nil(t, o.pop())
}
