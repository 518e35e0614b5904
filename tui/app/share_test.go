// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	qr "github.com/piglig/go-qr"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

const (
	sharedPage = "http://127.0.0.1:34567/#token=p3oFhYv7Xs2kQzjNqW8aVg"
	sharedSSH  = "ssh -p 34568 watch@127.0.0.1"
)

// shared is a UI of which the environment is served to others.
func shared(t *testing.T, width, height int, environ ...string) *model {
	t.Helper()
	m := waiting(t, width, height, append(environ, "TERM=xterm-256color")...)
	watchers := 2
	m.host.cfg.Share = &Share{
		Watchers: func() int { return watchers },
		Ways: func() []Way {
			return []Way{{Name: "Page", Text: sharedPage, Code: sharedPage, Notes: []string{"only this machine"}},
				{Name: "Terminal", Text: sharedSSH, Notes: []string{"password abcde-fghij-kmnpq-rstuv-wxyz2"}}}
		},
	}
	m.Update(keyPress("Y"))
	return m
}

func TestARecordedSessionIsServedByReplayingItAgain(t *testing.T) {
	t.Parallel()
	m := waiting(t, 120, 36)
	m.host.cfg.Playback = halfway{}
	m.Update(keyPress("Y"))
	screen := ansi.Strip(m.render())
	require.Contains(t, screen, "replay the session again")
	require.NotContains(t, screen, "keeps the environment running")
}

func TestTheShareLineIsShownAndCopied(t *testing.T) {
	t.Parallel()
	m := shared(t, 200, 60)
	screen := ansi.Strip(m.render())
	for _, words := range []string{sharedPage, sharedSSH, "password abcde-fghij", "2 people watch.", "▀"} {
		require.Contains(t, screen, words)
	}
	for line := range strings.Lines(screen) { // a triple click selects the line
		if strings.Contains(line, sharedSSH) {
			require.Equal(t, sharedSSH, strings.TrimSpace(line))
		}
	}
	require.Contains(t, screen, "copied · esc closes")
	require.Equal(t, "copied how to watch: Page", m.toast.text)
	m.Update(keyPress("j"))
	require.NotContains(t, ansi.Strip(m.render()), "▀", "the code is that of the selected way, which has none")
	m.Update(keyPress("y"))
	require.Equal(t, "copied how to watch: Terminal", m.toast.text)
	m.Update(keyPress("Y"))
	require.NotContains(t, ansi.Strip(m.render()), sharedPage)
}

func TestTheUIBeginsWithWhatIsSharedWithoutTheToken(t *testing.T) {
	t.Parallel()
	m := waiting(t, 160, 40)
	m.host.cfg.Share = &Share{Ways: func() []Way {
		return []Way{{Text: sharedPage, Shown: "http://127.0.0.1:34567/"}, {Text: sharedSSH, Shown: sharedSSH}}
	}}
	m.Init()
	require.Contains(t, ansi.Strip(m.render()), "others can watch: http://127.0.0.1:34567/, "+sharedSSH+"; Y says how")
	require.NotContains(t, m.render(), "token")
}

func TestWhereNothingIsServedTheFlagsAreNamed(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	m.Update(keyPress("Y"))
	screen := ansi.Strip(m.render())
	require.Contains(t, screen, "--serve-web")
	require.Contains(t, screen, "--serve-ssh")
	m.Update(keyPress("y"))
	m.Update(keyPress("z"))
	m.Update(keyPress("esc"))
	require.NotContains(t, ansi.Strip(m.render()), "--serve-ssh")
}

// What stands on the screen is read as a camera reads it, in each set of colours.
func TestTheCodeOnTheScreenCanBeRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width, height int
		environ       []string
		alone         bool
	}{
		{200, 60, nil, false},
		{80, 24, nil, true},
		{80, 19, nil, true},
		{200, 60, []string{"PIPEDECK_THEME=light"}, false},
		{200, 60, []string{"PIPEDECK_THEME=high-contrast"}, false},
		{200, 60, []string{"NO_COLOR=1"}, false},
		{200, 60, []string{"NO_COLOR=1", "COLORFGBG=0;15"}, false},
		{200, 60, []string{"PIPEDECK_ASCII=1"}, false},
		{200, 60, []string{"PIPEDECK_ASCII=1", "NO_COLOR=1"}, false},
	} {
		t.Run(fmt.Sprint(c.width, c.environ), func(t *testing.T) {
			t.Parallel()
			m := shared(t, c.width, c.height, c.environ...)
			if c.alone {
				require.Contains(t, ansi.Strip(m.render()), "z shows the QR code")
				m.Update(keyPress("z"))
			}
			read, err := qr.Decode(photograph(t, m.render(), m.host.look.Light))
			require.NoError(t, err)
			require.Equal(t, sharedPage, read)
		})
	}
}

func TestACodeWithoutRoomIsNotCut(t *testing.T) {
	t.Parallel()
	m := shared(t, 80, 17)
	screen := ansi.Strip(m.render())
	require.Contains(t, screen, "The QR code needs 33x18, more than this terminal has.")
	require.NotContains(t, screen, "▀")
}

// photograph makes a picture of a screen. What has no colour has that of the terminal, which is light or dark; letters
// are left out.
func photograph(t *testing.T, screen string, light bool) image.Image {
	t.Helper()
	const scale = 4 // pixels in a column; a line is twice as high
	lines := strings.Split(screen, "\n")
	picture := image.NewGray(image.Rect(0, 0, ansi.StringWidth(lines[0])*scale, len(lines)*2*scale))
	for y, line := range lines {
		for x, c := range cells(t, line) {
			ink, paper := shade(c.fg, !light), shade(c.bg, light)
			up, down := paper, paper
			if strings.ContainsRune("▀█#", c.char) {
				up = ink
			}
			if strings.ContainsRune("▄█#", c.char) {
				down = ink
			}
			for i := range scale * scale {
				picture.SetGray(x*scale+i%scale, 2*y*scale+i/scale, up)
				picture.SetGray(x*scale+i%scale, (2*y+1)*scale+i/scale, down)
			}
		}
	}
	return picture
}

// shade is a colour as a camera without colours sees it; light is that of the terminal's own.
func shade(c color.Color, light bool) color.Gray {
	switch {
	case c != nil:
		return color.GrayModel.Convert(c).(color.Gray)
	case light:
		return color.Gray{Y: 230}
	}
	return color.Gray{Y: 25}
}

// A guest has no key for what acts on the environment or on the machine that the UI runs on.
func TestAGuestHasNoKeyThatActs(t *testing.T) {
	t.Parallel()
	keys := keymap.Default().Playback().Guided().Watching()
	acting := append(asking(), keymap.Save, keymap.StartAgain, keymap.ShowPreview, keymap.ShowShare, keymap.ShowCard,
		keymap.TearDown, keymap.KeepRunning, keymap.Yes, keymap.Otherwise, keymap.PlayPause, keymap.SkipForward,
		keymap.NextStep, keymap.AsCommand, keymap.AsGoTest, keymap.AsRecording, keymap.PluginOutput)
	for _, b := range keys {
		require.NotContains(t, acting, b.Action)
		require.False(t, b.Asks, b.Help)
		require.NotContains(t, b.Help, "tear down")
	}
	require.NotEmpty(t, keys)
	cfg := Config{Guest: &Guest{}, Files: Files{Saved: "x"}, Manifests: stubManifests{}, Flags: " --name x"}.completed()
	require.Equal(t, Files{}, cfg.Files)
	require.Nil(t, cfg.Manifests)
	require.Nil(t, cfg.Command)
	require.NotNil(t, cfg.Environ, "those of this process are not a guest's")
	require.NotEmpty(t, cfg.ReadOnly)
}

type stubManifests struct{ Manifests }
