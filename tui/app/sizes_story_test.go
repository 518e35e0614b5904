// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// noon is a clock that stands still at the time of the examples; waits take their time.
func noon() seams { return seams{clock: clock{now: decktest.Now, after: time.After}} }

// storySizes are terminals of every layout, from the smallest to a wall.
var storySizes = [][2]int{{20, 6}, {30, 9}, {40, 12}, {60, 20}, {72, 20}, {80, 24}, {100, 30}, {120, 40}, {130, 30},
	{160, 45}, {200, 60}, {300, 100}}

// The background is that of a terminal, as COLORFGBG says it.
var backgrounds = map[string]theme.Color{"15;0": {}, "0;15": {R: 255, G: 255, B: 255}}

// Each pane in each layout, light and dark: every cell is readable, what was drawn piece by piece is what is drawn at
// once, and an approval is for the stage on the screen.
func TestWhatIsDrawnPieceByPieceIsWhatIsDrawnAtOnce(t *testing.T) {
	t.Parallel()
	for i, size := range storySizes {
		for colors, background := range backgrounds {
			// Every second size is light and every second dark, but the commonest, which are both.
			if common := size[0] >= 80 && size[0] <= 120; !common && (i%2 == 0) != (colors == "15;0") {
				continue
			}
			t.Run(fmt.Sprintf("%dx%d on %s", size[0], size[1], colors), func(t *testing.T) {
				t.Parallel()
				server := decktest.Start(t)
				server.Publish(decktest.Running()...)
				server.Log("s3", deckv1.Severity_SEVERITY_INFO, strings.Repeat("a long line ", 30), "Approve with a")
				server.Resources("app-1", &deckv1.WatchResourcesResponse{Resources: decktest.Resources(),
					Complete: true})
				s := session{client: dial(t, server), width: size[0], height: size[1], seams: noon(),
					environ: []string{"COLORTERM=truecolor", "COLORFGBG=" + colors}}.start(t, t.Context())
				s.seesText("RUNNING")
				panes := []string{"3z", "z1", "4", "e", "d", "t", "i", "2"}
				if size[0]*size[1] > 5000 { // the race detector makes cells expensive
					panes = panes[:2]
				}
				for _, pane := range panes {
					s.types(pane)
					s.settled()
					s.isReadable(background)
				}
				s.isWhole()
				s.types("2f")
				require.Empty(t, server.Calls)
				s.types("a")
				require.True(t, proto.Equal(approval("ada"), call(t, server)))
			})
		}
	}
}

// isReadable checks the contrast of every cell.
func (s *terminal) isReadable(background theme.Color) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	columns, rows := s.screen.Size()
	for y := range rows {
		for x := range columns {
			cell := s.screen.Cell(x, y)
			if cell.Char == ' ' || cell.Char == 0 {
				continue
			}
			fg, bg := shown(cell.FG, theme.Color{R: 255 - background.R, G: 255 - background.G, B: 255 - background.B}),
				shown(cell.BG, background)
			least := 4.5
			if !isWord(cell.Char) {
				least = 3
			}
			require.GreaterOrEqualf(s.t, fg.Contrast(bg), least, "%q in column %d of line %d: %v on %v",
				cell.Char, x, y, fg, bg)
		}
	}
}

// shown is a colour of the emulator; plain stands for the terminal's own.
func shown(c vt10x.Color, plain theme.Color) theme.Color {
	if c >= 1<<24 {
		return plain
	}
	return theme.Color{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c)}
}
