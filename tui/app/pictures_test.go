// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"image/color"
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/picture"
	"github.com/pipedeck/pipedeck/tui/view"
)

// pictures is the folder of the pictures for the documentation.
const pictures = "../../docs/pictures"

// TestScreensAsPictures keeps the pictures of the documentation as the screens are. make pictures draws them.
func TestScreensAsPictures(t *testing.T) {
	t.Parallel()
	drawn := map[string]bool{}
	for name, draw := range pictured() {
		drawn[name+".svg"] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			title, m := draw(t)
			terminal := picture.Dark(m.screen.width, m.screen.height)
			if m.host.look.Light {
				terminal = picture.Light(m.screen.width, m.screen.height)
			}
			svg := picture.SVG(m.View().Content, title, terminal)
			file := filepath.Join(pictures, name+".svg")
			if *update {
				require.NoError(t, os.MkdirAll(pictures, 0o755))
				require.NoError(t, os.WriteFile(file, []byte(svg), 0o644))
			}
			before, err := os.ReadFile(file)
			require.NoError(t, err)
			require.True(t, string(before) == svg, "docs/pictures/%s.svg is stale: run make pictures", name)
		})
	}
	files, err := filepath.Glob(pictures + "/*.svg")
	require.NoError(t, err)
	for _, file := range files {
		require.True(t, drawn[filepath.Base(file)], "%s is drawn by nothing", file)
	}
}

// pictured are the pictures: the title and the screen of each, by the name of its file.
func pictured() map[string]func(t *testing.T) (title string, m *model) {
	return map[string]func(t *testing.T) (title string, m *model){
		"main": func(t *testing.T) (string, *model) {
			return "A deployment that forks into checks and regions, drawn as boxes", shopping(t, 120, 40)
		},
		"lanes": func(t *testing.T) (string, *model) {
			m := shopping(t, 100, 30)
			if m.panes.deployment.graph().Form == view.Boxes {
				m.key("v")
			}
			return "The same deployment drawn as lanes", m
		},
		"failed": func(t *testing.T) (string, *model) {
			m := shopping(t, 120, 40)
			m.receive(decktest.CheckoutFailed())
			m.key("2", "n")
			writeLog(m, `ERROR pod checkout-6f7c9-zz8rl: back-off restarting failed container main`,
				`panic: config: PAYMENT_TIMEOUT: time: invalid duration "3O s"`, "",
				`main.mustConfig(0xc0000b6000) config.go:41`)
			return "A failed stage with its reason, while the rollback runs", m
		},
		"approval": func(t *testing.T) (string, *model) {
			m := still(t)
			m.size(80, 24)
			m.see(append(decktest.Running(), decktest.Named())...)
			writeLog(m, "Waiting for approval: 1 needed from anyone")
			return "A canary that waits for approval", m
		},
		"log": func(t *testing.T) (string, *model) {
			m := shopping(t, 100, 20)
			m.key("3", "z", "/", "p", "o", "d", "enter")
			m.Update(m.panes.log.startSearch()())
			return "A log that fills the screen, with the hits of a search", m
		},
		"light": func(t *testing.T) (string, *model) {
			m := shopping(t, 120, 40)
			m.Update(tea.BackgroundColorMsg{Color: color.White})
			return "The main screen on a light terminal", m
		},
		"ascii": func(t *testing.T) (string, *model) {
			return "The main screen in ASCII", shopping(t, 100, 30, "PIPEDECK_ASCII=1")
		},
		"big": func(t *testing.T) (string, *model) {
			return "The stages alone, for a projector", shopping(t, 80, 24, "PIPEDECK_BIG=1")
		},
		"small": func(t *testing.T) (string, *model) { return "The main screen at 60 by 20", shopping(t, 60, 20) },
		"drift": func(t *testing.T) (string, *model) {
			return "The fields of a resource that are not as in Git", drifted(t, 120, 40)
		},
		"insights": func(t *testing.T) (string, *model) {
			return "How deployments went, of all applications and of each", measuring(t, 120, 40)
		},
		"preview": func(t *testing.T) (string, *model) {
			return "What merging a branch would deploy", previewed(t, 120, 40)
		},
		"card": func(t *testing.T) (string, *model) {
			return "The card after the first pipeline that succeeded", carded(t, 80, 24, decktest.Succeeded())
		},
	}
}

// shopping is a screen of several applications, one of which is being deployed.
func shopping(t *testing.T, width, height int, environ ...string) *model {
	t.Helper()
	m := still(t, environ...)
	m.size(width, height)
	m.see(decktest.Shop()...)
	m.chosen.pinApplication("checkout")
	m.receive(decktest.Checkout())
	writeLog(m, decktest.Rollout()...)
	return m
}

// writeLog adds lines into the log on the screen.
func writeLog(m *model, texts ...string) {
	for i, line := range texts {
		level, _ := logbuf.LevelOf(line)
		m.panes.log.reader.buffer.Append(logbuf.Line{Time: decktest.At(16 + 3*float64(i)).AsTime(),
			Severity: logbuf.Info, Level: level, Text: line})
	}
	m.Update(logMsg{log: m.panes.log.reader})
}
