// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/text"
)

// exact fails unless the screen has the size of the terminal; it returns the screen without styles.
func (m *model) exact(t *testing.T, what string, width, height int) string {
	t.Helper()
	m.size(width, height)
	plain := ansi.Strip(m.View().Content)
	lines := strings.Split(plain, "\n")
	if len(lines) != height {
		t.Fatalf("%s at %dx%d has %d lines", what, width, height, len(lines))
	}
	for i, line := range lines {
		if text.Width(line) != width {
			t.Fatalf("%s at %dx%d, line %d has %d columns: %q", what, width, height, i+1, text.Width(line), line)
		}
	}
	if m.leaving.err != nil {
		t.Fatalf("%s at %dx%d: %v", what, width, height, m.leaving.err)
	}
	return plain
}

func TestTheStateIsVisibleInEverySize(t *testing.T) {
	t.Parallel()
	m, start := waiting(t, 80, 24), still(t)
	start.see(starting()...)
	for width := leastWidth; width <= 300; width++ {
		for height := leastHeight; height <= 100; height++ {
			if (width > minWidth+2 && width%19 != 0) || (height > minHeight+2 && height%13 != 0) ||
				(width+height)%4 != 0 {
				continue // each width and height that is small, and some of the others
			}
			if screen := m.exact(t, "main", width, height); !strings.Contains(screen, "RUNNING") ||
				!strings.Contains(screen, "hello-wo") {
				t.Fatalf("at %dx%d:\n%s", width, height, screen)
			}
			if height%3 == 0 {
				screen := start.exact(t, "start-up", width, height)
				require.Contains(t, screen, "Starting")
			}
		}
	}
}

func TestEveryPaneAndQuestionFitsInEverySize(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{
		"applications": {"1"}, "log": {"3"}, "plugins": {"4"}, "environment": {"e"}, "history": {"d"},
		"resources": {"t"}, "help": {"?"}, "palette": {":"}, "leave": {"q"}, "search": {"/", "a"},
		"filter": {"1", "/", "h"},
		"error":  {"up", "a"}, "inspector": {"i"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := waiting(t, 80, 24)
			m.key(keys...)
			for width := leastWidth; width <= 300; width += 1 + width/5 {
				for height := leastHeight; height <= 100; height += 1 + height/5 {
					screen := m.exact(t, name, width, height)
					if name == "leave" {
						require.Containsf(t, screen, "keep", "the chosen answer at %dx%d", width, height)
					}
				}
			}
		})
	}
}

func TestASmallScreenShowsOnePaneAtATime(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 60, 20, seams{})
	s.seesText("1 Apps 1", "2 Deployment", "3 Log", "4 Plugins 4", "RUNNING", "press a to approve")
	s.types("4")
	s.seesText("kubernetes", "scriptrun", "last output")
	s.types("1")
	s.seesText("1 Applications", "hello-world")
	s.losesText("last output")
	s.types("2")
	s.seesText("press a to approve")

	s.resize(20, 6)
	s.seesText("hello-world", "RUNNING 2/5", "✓✓◆○○", "? help")
	s.types("a")
	require.Equal(t, "s3", call(t, server).(interface{ GetStageId() string }).GetStageId())
	s.seesText("approved")
	s.types("q")
	s.seesText("keep it")
	s.types("y")
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, LeaveRunning, outcome)
}
