// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/text"
)

// A walk is reproduced with the seed that its name ends with.
var (
	walks    = flag.Int("walks", 12, "how many random walks through the UI are made")
	walkSeed = flag.Uint64("walk-seed", 0, "the seed of the first random walk")
)

// walker presses keys, resizes the terminal and changes the environment at random.
type walker struct {
	t      *testing.T
	random *rand.Rand
	m      *model
	keys   []string
	// said are the last steps.
	said []string
	// crashes are panics while drawing.
	crashes chan error
}

func newWalker(t *testing.T, seed uint64) *walker {
	w := &walker{t: t, random: rand.New(rand.NewPCG(seed, 80)), m: still(t), crashes: make(chan error, 1)}
	w.m.host.send = func(msg tea.Msg) {
		if crash, ok := msg.(crashMsg); ok {
			w.crashes <- crash.err
		}
	}
	for _, b := range keymap.Default() {
		for _, key := range b.Keys {
			if key != "ctrl+c" && !slices.Contains(w.keys, key) {
				w.keys = append(w.keys, key)
			}
		}
	}
	for key := '!'; key <= '~'; key++ {
		if !slices.Contains(w.keys, string(key)) {
			w.keys = append(w.keys, string(key))
		}
	}
	w.keys = append(w.keys, "日", "é")
	w.m.host.cfg.Manifests = oneFile{}
	w.m.host.cfg.Environ = []string{"EDITOR=/bin/true"}
	w.m.size(100, 30)
	return w
}

// step does one thing and returns what it was.
func (w *walker) step() string {
	switch n := w.random.IntN(20); {
	case n == 0:
		width, height := 1+w.random.IntN(300), 1+w.random.IntN(100)
		w.m.size(width, height)
		return fmt.Sprintf("%dx%d", width, height)
	case n == 1 && w.m.panes.log.reader != nil:
		severity := logbuf.Severity(w.random.IntN(3))
		w.m.hear(severity, strings.Repeat("日本 word \x1b[31m", w.random.IntN(40)), "panic: the end")
		return "log"
	case n == 2:
		w.m.Update(disconnectedMsg{err: errors.New("connection refused")})
		return "disconnected"
	case n == 3:
		w.m.Update(connectedMsg{deckv1.NewDeckServiceClient(nil)})
		return "connected"
	case n < 7:
		w.happens(w.news())
		return "news"
	case n == 7:
		pasted := strings.Repeat("s y\n", w.random.IntN(3)) + "q"
		w.m.Update(tea.PasteMsg{Content: pasted})
		return "paste"
	}
	key := w.keys[w.random.IntN(len(w.keys))]
	w.presses(key)
	return key
}

// news is one change of the environment.
func (w *walker) news() []proto.Message {
	switch w.random.IntN(8) {
	case 0:
		return []proto.Message{decktest.Problems()[w.random.IntN(2)]}
	case 1:
		return []proto.Message{&deckv1.Removed{ProblemId: decktest.Problems()[w.random.IntN(2)].GetId()}}
	case 2:
		plugin := decktest.Plugins()[w.random.IntN(4)]
		plugin.State, plugin.Pid = deckv1.Plugin_State(w.random.IntN(6)), 0
		plugin.LastOutput = strings.Split(strings.Repeat("panic: at the disco\n", w.random.IntN(50)), "\n")
		return []proto.Message{plugin}
	case 3:
		part := decktest.Component(w.random.IntN(5), "Kubernetes", strings.Repeat("no answer ", w.random.IntN(50)))
		part.State = deckv1.Component_State(w.random.IntN(6))
		return []proto.Message{part}
	}
	return change(w.random)
}

// happens takes news. What the user has chosen stays chosen while it exists.
func (w *walker) happens(objects []proto.Message) {
	chosen := w.m.chosen
	w.m.receive(objects...)
	deck := w.m.link.deck
	if chosen.appPinned && deck.Application(chosen.app) != nil {
		require.Equal(w.t, chosen.app, w.m.chosen.app, "the application of the user's choice")
	}
	if stage := chosen.stage(); chosen.stagePinned && w.m.chosen.app == chosen.app && stage != nil &&
		slices.ContainsFunc(deck.Deployment(chosen.deployment().GetId()).GetStages(), func(s *deckv1.Stage) bool {
			return s.GetId() == stage.GetId()
		}) {
		require.Equal(w.t, stage.GetId(), w.m.chosen.stage().GetId(), "the stage of the user's choice")
	}
}

// presses takes a key. One that is typed into a line starts nothing and goes nowhere.
func (w *walker) presses(key string) {
	m := w.m
	_, inPalette := m.overlays.top().(*palette)
	ends := key == "enter" || key == "esc"
	typed := m.typing() != nil && !ends || m.input.ignoring && !ends
	pending, focus, zoomed, big := m.actions.pending, m.screen.focus, m.screen.zoomed, m.host.look.Big
	open, outcome := len(m.overlays.stack), m.leaving.outcome
	m.Update(walkKey(key))
	if typed {
		require.Equal(w.t, pending, m.actions.pending, "an action began")
		require.Equal(w.t, focus, m.screen.focus, "another pane")
		require.Equal(w.t, []bool{zoomed, big}, []bool{m.screen.zoomed, m.host.look.Big})
		require.Len(w.t, m.overlays.stack, open)
		require.Equal(w.t, outcome, m.leaving.outcome)
		require.True(w.t, m.typing() != nil || m.input.ignoring || inPalette && ends, "the line is left")
	}
}

// walkKey is a key by the name that the keymap has for it.
func walkKey(name string) tea.KeyPressMsg {
	codes := map[string]rune{"tab": tea.KeyTab, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp,
		"down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp,
		"pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace}
	if rest, found := strings.CutPrefix(name, "ctrl+"); found {
		return tea.KeyPressMsg{Code: []rune(rest)[0], Mod: tea.ModCtrl}
	}
	if name == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	if code, found := codes[name]; found {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// holds checks what holds after every step.
func (w *walker) holds() {
	m := w.m
	require.NoError(w.t, m.leaving.err, "a panic")
	content := m.View().Content
	if content == "" {
		err := <-w.crashes
		var crash *PanicError
		require.ErrorAs(w.t, err, &crash)
		w.t.Fatalf("%v\n%s", err, crash.Stack)
	}
	lines := strings.Split(content, "\n")
	require.Len(w.t, lines, m.screen.height)
	for i, line := range lines {
		if text.Width(line) != m.screen.width {
			w.t.Fatalf("line %d has not %d columns: %q", i+1, m.screen.width, line)
		}
	}
	deck := m.link.deck
	if len(deck.Applications()) > 0 {
		require.NotNil(w.t, m.chosen.application(), "no application is selected")
		if newest := deck.Newest(m.chosen.app); len(newest.GetStages()) > 0 {
			require.NotNil(w.t, m.chosen.deployment(), "no deployment is selected")
		}
		if len(m.chosen.deployment().GetStages()) > 0 {
			require.NotNil(w.t, m.chosen.stage(), "no stage is selected")
		}
	}
	if len(deck.Plugins()) > 0 {
		require.NotNil(w.t, m.panes.plugins.plugin(), "no plugin is selected")
	}
}

func TestNoWalkThroughTheUIBreaksIt(t *testing.T) {
	t.Parallel()
	for i := range *walks {
		seed := *walkSeed + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWalker(t, seed)
			if seed%4 != 0 { // the others begin at the start-up steps
				w.m.see(append(decktest.Running(), past(1, 2, 3)...)...)
			}
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("after %q", w.said[max(0, len(w.said)-60):])
				}
			})
			for range 300 {
				w.said = append(w.said, w.step())
				w.holds()
			}
		})
	}
}
