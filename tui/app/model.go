// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

const (
	// spinTick is the pace of the spinner while the environment starts, tick that of growing durations.
	spinTick = 100 * time.Millisecond
	tick     = time.Second
	// idleTick keeps "3m ago" true.
	idleTick = time.Minute
	// toastTime is how long the outcome of an action stays.
	toastTime = 6 * time.Second
)

// model is the whole state of the screen. Only Update changes it.
type model struct {
	cfg   Config
	work  *work
	clock clock
	send  func(tea.Msg)
	// before sees messages first; nil outside tests.
	before func(tea.Msg)
	theme  theme.Theme
	keys   keymap.Map

	width, height int
	now, begun    time.Time
	frame         int
	// ticking is the pace of the tick under way, 0 without one; ticks is its number.
	ticking time.Duration
	ticks   int

	deck   *state.Deck
	client deckv1.DeckServiceClient
	// trouble is why there is no connection; nil while there is one and before the first.
	trouble error

	// main: the start-up steps have made room for the main screen.
	main  bool
	focus keymap.Scope
	selection
	log       view.Log
	reader    *stageLog
	resources resources

	dialog *dialog
	help   bool
	// ignoring: a search was begun where none is; keys mean nothing until Esc or Enter.
	ignoring bool
	toast    toast

	outcome Outcome
	err     error
}

type toast struct {
	text string
	bad  bool
	// number tells an old timer from the present one.
	number int
}

// Messages of the model itself.
type (
	tickMsg  struct{ number int }
	toastMsg struct{ number int }
)

func newModel(cfg Config, work *work, clock clock) *model {
	m := &model{
		cfg: cfg, work: work, clock: clock, keys: keymap.Default(),
		theme: theme.New(theme.FromEnvironment(cfg.Environ)),
		deck:  state.New(), focus: keymap.Startup,
		now: clock.now(), begun: clock.now(),
	}
	m.cfg.Name, m.cfg.Version = text.Line(cfg.Name), text.Line(cfg.Version)
	m.log = view.Log{Theme: m.theme, Zone: m.now.Location(), Following: true, Wrap: true}
	return m
}

// Init starts the clock; everything else is under way already.
func (m *model) Init() tea.Cmd { return m.keepTime() }

// Update takes one message. A panic ends the UI in order, so that the terminal is restored.
func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			m.err = &PanicError{Value: r, Stack: debug.Stack()}
			next, cmd = m, tea.Quit
		}
	}()
	if m.before != nil {
		m.before(msg)
	}
	return m, m.take(msg)
}

func (m *model) take(msg tea.Msg) tea.Cmd {
	m.now = m.clock.now()
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		cmd = m.press(msg)
	case tea.PasteMsg:
		m.typeText(msg.Content)
	case tickMsg:
		if msg.number == m.ticks {
			m.ticking = 0
			m.frame++
		}
	case toastMsg:
		if msg.number == m.toast.number {
			m.toast = toast{number: m.toast.number}
		}
	case connectedMsg:
		m.client, m.trouble = msg.client, nil
		m.deck.Restart()
		m.closeLog()
		m.closeResources()
	case eventsMsg:
		for _, event := range msg.events {
			m.deck.Apply(event)
		}
	case disconnectedMsg:
		m.trouble = msg.err
		if msg.ended || m.deck.Stopping() {
			return m.leave(EnvironmentGone)
		}
	case crashMsg:
		m.err = msg.err
		return tea.Quit
	case interruptMsg:
		return m.leave(Interrupted)
	case logMsg:
		cmd = m.grow(msg)
	case retryLogMsg:
		if msg.log == m.reader {
			m.closeLog() // and settle opens it again
		}
	case resourcesMsg:
		cmd = m.takeResources(msg)
	case retryResourcesMsg:
		if msg.watch == m.resources.watch {
			m.closeResources() // and settle opens it again
		}
	case foundMsg:
		m.found(msg)
	case actionMsg:
		if msg.err != nil {
			cmd = m.say(msg.err.Error(), true)
		} else {
			cmd = m.say(msg.done, false)
		}
	}
	if !m.main && m.deck.Ready() && m.deck.Synced() {
		m.enterMain()
	}
	return tea.Batch(cmd, m.settle(), m.keepTime())
}

func (m *model) enterMain() {
	m.main = true
	if m.focus == keymap.Startup {
		m.focus = keymap.Deployment
	}
}

// leave ends the UI.
func (m *model) leave(outcome Outcome) tea.Cmd {
	m.outcome = outcome
	return tea.Quit
}

// say shows text for a while.
func (m *model) say(message string, bad bool) tea.Cmd {
	m.toast = toast{text: message, bad: bad, number: m.toast.number + 1}
	number := m.toast.number
	return m.work.do(func(ctx context.Context) tea.Msg {
		select {
		case <-m.clock.after(toastTime):
			return toastMsg{number}
		case <-ctx.Done():
			return nil
		}
	})
}

// keepTime asks for the next tick: as often as what the screen shows grows with time, and not twice.
func (m *model) keepTime() tea.Cmd {
	pace := m.pace()
	if m.ticking != 0 && m.ticking <= pace {
		return nil
	}
	m.ticking = pace
	m.ticks++
	number := m.ticks
	return m.work.do(func(ctx context.Context) tea.Msg {
		select {
		case <-m.clock.after(pace):
			return tickMsg{number}
		case <-ctx.Done():
			return nil
		}
	})
}

func (m *model) pace() time.Duration {
	switch {
	case m.deck.Starting(), !m.main && len(m.deck.Components()) == 0:
		return spinTick
	case m.deck.Deploying(), m.focus == keymap.Plugins:
		return tick
	}
	return idleTick
}
