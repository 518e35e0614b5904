// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/decktest"
)

// sends waits until the UI has written bytes to the terminal.
func (s *terminal) sends(what string) {
	s.t.Helper()
	s.sees(what, func(string) bool { return bytes.Contains(s.raw.Bytes(), []byte(what)) })
}

// The colours of a sign that says "done".
const (
	doneDark       = "38;2;126;226;160m"
	doneLight      = "38;2;23;105;58m"
	doneColorBlind = "38;2;11;99;197m"
)

func TestTheTerminalIsAskedForItsBackground(t *testing.T) {
	t.Parallel()
	const question = "\x1b]11;?"
	for name, c := range map[string]struct {
		environ []string
		// answer is the background of the terminal, in the form of xterm; "" does not answer.
		answer string
		before string
		after  string
	}{
		"a dark one":              {nil, "rgb:0000/2b2b/3636", doneDark, doneDark},
		"a light one":             {nil, "rgb:fdfd/f6f6/e3e3", doneDark, doneLight},
		"one that does not say":   {nil, "", doneDark, doneDark},
		"one that says by number": {[]string{"COLORFGBG=0;15"}, "", doneLight, doneLight},
		"a wrong number":          {[]string{"COLORFGBG=0;15"}, "rgb:0000/0000/0000", doneLight, doneDark},
		"colour-blind":            {[]string{"PIPEDECK_THEME=colour-blind"}, "rgb:ffff/ffff/ffff", "", doneColorBlind},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			s := play(t, dial(t, server), 80, 24, seams{}, append(c.environ, "COLORTERM=truecolor")...)
			s.sends(question)
			s.sends(c.before)
			if c.answer == "" {
				s.seesText("press a to approve")
				return
			}
			s.types("\x1b]11;" + c.answer + "\x1b\\")
			s.sends(c.after)
			s.seesText("press a to approve")
		})
	}
}

func TestAThemeThatDoesNotDependOnTheBackgroundDoesNotAsk(t *testing.T) {
	t.Parallel()
	for name, environ := range map[string][]string{
		"by name":    {"PIPEDECK_THEME=light", "COLORTERM=truecolor"},
		"no colours": {"NO_COLOR=1"},
		"sixteen":    {"TERM=xterm"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			s := play(t, dial(t, server), 80, 24, seams{}, environ...)
			s.seesText("press a to approve")
			s.types("q")
			s.seesText("keep it running")
			s.mu.Lock()
			defer s.mu.Unlock()
			require.NotContains(t, s.raw.String(), "\x1b]11;")
			if name == "by name" {
				require.Contains(t, s.raw.String(), doneLight)
			}
		})
	}
}

func TestAThemeFileColoursTheScreen(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(file, []byte("base: dark\nok: \"#aabbcc\"\nbackground: \"#101010\"\n"), 0o600))
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 80, 24, seams{}, "PIPEDECK_THEME="+file, "COLORTERM=truecolor")
	s.sends("38;2;170;187;204")
	s.sends("48;2;16;16;16")
}

func TestAnUnknownThemeEndsBeforeTheScreenIsTouched(t *testing.T) {
	t.Parallel()
	_, err := run(t.Context(), Config{Environ: []string{"PIPEDECK_THEME=drak"}}, seams{})
	require.ErrorContains(t, err, `unknown theme "drak"; themes are auto, dark`)
}

func TestReducedMotionHasASlowClockAndNoSpinner(t *testing.T) {
	t.Parallel()
	m := still(t, "PIPEDECK_REDUCED_MOTION=1")
	require.Equal(t, slowTick, m.pace())
	require.Equal(t, []string{"…"}, m.host.theme.Spinner)
	m = waiting(t, 80, 24, "PIPEDECK_REDUCED_MOTION=1")
	require.Equal(t, slowTick, m.pace(), "a deployment runs")
	require.Equal(t, tick, waiting(t, 80, 24).pace())
}
