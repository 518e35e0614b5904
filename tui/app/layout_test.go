// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLayoutCoversEveryCellOnce(t *testing.T) {
	t.Parallel()
	few := func(int, int) int { return 9 }
	many := func(int, int) int { return 70 }
	for name, need := range map[string]demand{
		"start-up":              {},
		"a pane alone":          {main: true, plugins: 4},
		"few stages and a log":  {main: true, plugins: 1, stages: few},
		"many stages and a log": {main: true, plugins: 40, stages: many},
	} {
		for width := minWidth; width <= 300; width += 11 {
			for height := minHeight; height <= 100; height += 7 {
				l := arrange(width, height, need)
				covered := make([]int, width*height)
				for _, r := range []rect{l.header, l.status, l.footer, l.applications, l.plugins, l.side, l.log} {
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
