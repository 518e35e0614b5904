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
			for width := leastWidth; width <= 300; width += 1 + width/3 {
				for height := leastHeight; height <= 100; height += 1 + height/3 {
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
	signals.Lock()
	defer signals.Unlock()
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

func TestAnOpenPaletteShowsWhatIsTypedInEverySize(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	m.key(":", "s", "y", "n")
	everySize(func(width, height int) {
		screen := m.exact(t, "palette", width, height)
		require.Containsf(t, screen, ":syn", "what is typed at %dx%d", width, height)
		require.Containsf(t, screen, "Deploy the", "the action at %dx%d", width, height)
	})
}

func TestADialogShowsItsQuestionAndItsAnswersInEverySize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys     []string
		question string
		// chosen is the preselected answer.
		chosen  string
		answers []string
	}{
		"cancel": {[]string{"c"}, "Cancel the deployment of hello-world?", "no",
			[]string{"yes, cancel it", "yes, but"}},
		"sync": {[]string{"s"}, "Deploy the newest commit of hello-world?", "no",
			[]string{"yes, by its", "yes, piped"}},
		"skip":    {[]string{"S"}, "Skip WAIT_APPROVAL?", "no", []string{"yes"}},
		"restart": {[]string{"4", "r"}, "Restart kubernetes?", "no", []string{"yes"}},
		"leave":   {[]string{"q"}, "Leave pipedeck", "keep it", []string{"stay here", "tear it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := waiting(t, 80, 24)
			m.key(c.keys...)
			everySize(func(width, height int) {
				screen := m.exact(t, name, width, height)
				require.Truef(t, asks(screen, c.question), "at %dx%d:\n%s", width, height, screen)
				require.Containsf(t, screen, c.chosen, "at %dx%d", width, height)
				seen := 0
				for _, answer := range c.answers {
					if strings.Contains(screen, answer) {
						seen++
					}
				}
				require.GreaterOrEqualf(t, seen, 1, "another answer at %dx%d:\n%s", width, height, screen)
				if height >= minTabHeight {
					require.Equalf(t, len(c.answers), seen, "all answers at %dx%d:\n%s", width, height, screen)
				}
			})
		})
	}
}

func TestTheNameThatIsTypedToTearDownIsVisibleInEverySize(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	m.key("q", "t", "d", "e", "f", "a")
	everySize(func(width, height int) {
		screen := m.exact(t, "tear down", width, height)
		require.Containsf(t, screen, "defa", "at %dx%d:\n%s", width, height, screen)
		require.Truef(t, asks(screen, "Tear down default?"), "at %dx%d:\n%s", width, height, screen)
	})
	m.key("enter")
	require.Contains(t, m.exact(t, "wrong", 40, 12), "not the name")
}

// asks reports whether the words of a question stand on a screen in their order, also over the ends of lines.
func asks(screen, question string) bool {
	return inOrder(strings.FieldsFunc(question, func(r rune) bool { return r == ' ' || r == '-' })...)(screen)
}

// everySize calls f with sizes from the smallest to large ones.
func everySize(f func(width, height int)) {
	for width := leastWidth; width <= 300; width += 1 + width/5 {
		for height := leastHeight; height <= 100; height += 1 + height/5 {
			f(width, height)
		}
	}
	f(300, 100)
}

func TestTheSmallestScreenShowsPartsAndStages(t *testing.T) {
	t.Parallel()
	m := waiting(t, 20, 6)
	m.key("e")
	screen := m.exact(t, "environment", 20, 6)
	for _, part := range []string{"Preflight", "Control plane", "Kubernetes"} {
		require.Contains(t, screen, part)
	}
	for range 40 {
		m.key("down")
	}
	require.Contains(t, m.exact(t, "environment", 20, 6), "v0.1.0", "its last fact")
	m.key("i")
	screen = m.exact(t, "inspector", 20, 6)
	require.Contains(t, screen, "s3")
	require.Contains(t, screen, "WAIT_APPROVAL")
	m.key("pgdown")
	require.NotEqual(t, screen, m.exact(t, "inspector", 20, 6))
}

func TestAFailedPlanningNamesTheKeyOnTheSmallestScreen(t *testing.T) {
	t.Parallel()
	m := screens()["planning-failed-80x24"](t)
	for _, size := range [][2]int{{20, 8}, {40, 12}, {60, 20}, {80, 24}, {120, 40}} {
		screen := m.exact(t, "planning failed", size[0], size[1])
		require.NotContains(t, screen, "Planning:", "%v", size)
		if size[1] > 8 {
			require.Contains(t, screen, "stagez", "%v", size)
		}
		require.Contains(t, screen, "FAILURE", "%v", size)
	}
}
