// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/text"
)

// randomPipeline has up to 40 stages, each of which needs up to three earlier ones, and up to three of a rollback.
func randomPipeline(random *rand.Rand, id string) *deckv1.Deployment {
	d := decktest.Canary()
	d.Id, d.Stages, d.CreatedAt = id, nil, decktest.At(1)
	count := 1 + random.IntN(40)
	for i := range count + random.IntN(4) {
		stage := &deckv1.Stage{
			Id: fmt.Sprintf("s%d", i), Name: "SCRIPT_RUN", Index: int32(i), Rollback: i >= count,
			Status: deckv1.StageStatus(1 + random.IntN(7)),
		}
		if random.IntN(2) == 0 {
			stage.ConfigId = strings.Repeat("名", random.IntN(3)) + fmt.Sprintf("stage-%d", i)
		}
		for range random.IntN(4) {
			stage.Requires = append(stage.Requires, fmt.Sprintf("s%d", random.IntN(i+1)))
		}
		if stage.GetStatus() > deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			stage.StartedAt = decktest.At(1 + float64(random.IntN(40)))
		}
		d.Stages = append(d.Stages, stage)
	}
	return d
}

// Whatever the pipeline and the keys, the screen keeps its size and the cursor is on a stage or fold in sight.
func TestNoKeyInAGraphBreaksTheScreenOrLosesTheSelection(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(13, 1))
	keys := []string{"h", "j", "k", "l", "g", "G", "pgup", "pgdown", "n", "N", "v", "F", "f", "enter", "esc"}
	sizes := [][2]int{{80, 24}, {100, 30}, {120, 40}, {200, 60}}
	for i := range 40 {
		m := still(t)
		m.see(decktest.Running()...)
		m.receive(randomPipeline(random, fmt.Sprintf("random-%d", i)))
		var pressed []string
		for range 20 {
			size := sizes[random.IntN(len(sizes))]
			m.size(size[0], size[1])
			key := keys[random.IntN(len(keys))]
			pressed = append(pressed, key)
			m.key(key, "2")
			lines := strings.Split(m.View().Content, "\n")
			require.Len(t, lines, size[1])
			for _, line := range lines {
				if text.Width(line) != size[0] {
					t.Fatalf("%d has not %d columns after %v: %q", i, size[0], pressed, line)
				}
			}
			require.NotNilf(t, m.chosen.stage(), "%d: %v", i, pressed)
			pane := m.panes.deployment
			require.Truef(t, slices.ContainsFunc(pane.graph().Picture.Places, func(at graph.Place) bool {
				return at.ID == pane.cursor().ID
			}), "%d: the cursor is nowhere after %v", i, pressed)
			drawn := ansi.Strip(pane.draw(pane.width, pane.height, true))
			marked := strings.Contains(drawn, "\n▌") || strings.ContainsAny(drawn, "┏┃")
			require.Truef(t, marked, "%v\n%s", pressed, drawn)
		}
	}
}
