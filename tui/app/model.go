// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

const (
	// spinTick is the pace of the spinner while the environment starts, tick that of growing durations.
	spinTick = 100 * time.Millisecond
	tick     = time.Second
	// slowTick is the pace of durations with reduced motion.
	slowTick = 10 * time.Second
	// idleTick keeps "3m ago" true.
	idleTick = time.Minute
)

// model is the one model of Bubble Tea. It hands messages to the parts of the screen; only Update changes them.
type model struct {
	host   *host
	ticker ticker
	toast  toast

	link   link
	chosen selection

	screen   screen
	input    input
	panes    panes
	overlays overlays
	actions  actions
	cards    cards
	leaving  leaving

	// before sees messages first; nil outside tests.
	before func(tea.Msg)
}

func newModel(cfg Config, look theme.Options, work *work, clock clock) *model {
	cfg.Name, cfg.Version = text.Line(cfg.Name), text.Line(cfg.Version)
	h := &host{cfg: cfg, work: work, clock: clock, now: clock.now(), known: clock.now(),
		look: look, theme: theme.New(look), file: cfg.Keys}
	if h.file.Map == nil {
		h.file.Map = keymap.Default()
	}
	h.file.Map = keysFor(cfg, h.file.Map)
	deck := state.New()
	m := &model{
		host: h, ticker: ticker{host: h}, toast: toast{host: h},
		link: link{deck: deck}, chosen: selection{deck: deck},
		screen: screen{focus: keymap.Startup}, input: input{keys: h.file.Map},
	}
	log := newLogPane(h, &m.link, &m.chosen)
	m.panes = panes{
		applications: newApplicationsPane(h, &m.chosen),
		deployment:   newDeploymentPane(h, &m.chosen, log, &m.toast),
		log:          log,
		plugins:      newPluginsPane(h, deck),
		environment: &environmentPane{host: h, link: &m.link, ticker: &m.ticker, begun: h.now,
			look: newFind(h.theme, "/")},
		history:   newHistoryPane(h, &m.chosen),
		resources: newResourcesPane(h, &m.link, &m.chosen, &m.toast),
		insights:  newInsightsPane(h, &m.link, &m.chosen),
		preview:   newPreviewPane(h, &m.link, &m.toast),
	}
	m.actions = actions{host: h, link: &m.link, chosen: &m.chosen, plugins: m.panes.plugins, screen: &m.screen,
		overlays: &m.overlays, resources: m.panes.resources, preview: m.panes.preview}
	m.panes.resources.putBack = m.actions.putBackLine
	m.cards = newCards(h, &m.link, &m.chosen, &m.screen, &m.actions)
	m.actions.uncarded = m.cards.trouble
	m.cards.reading = func() bool {
		return m.typing() != nil || m.panes.deployment.look.shown() || m.chosen.stagePinned || !log.view.Following
	}
	m.panes.inspector = newInspectorPane(h, &m.link, &m.chosen, m.actions.command)
	m.leaving = leaving{host: h, overlays: &m.overlays}
	m.overlays.sayMistakes(m.host)
	return m
}

// Init starts the clock and says what is shared; everything else is under way already.
func (m *model) Init() tea.Cmd {
	tick := m.ticker.keep(m.pace())
	if m.host.cfg.Share == nil {
		return tick
	}
	if begun := m.host.cfg.Share.begun(m.host); begun != "" {
		return tea.Batch(tick, m.toast.say(begun, false))
	}
	return tick
}

// Update takes one message. A panic ends the UI in order, so that the terminal is restored.
func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			next, cmd = m, m.leaving.crash(&PanicError{Value: r, Stack: debug.Stack()})
		}
	}()
	if m.before != nil {
		m.before(msg)
	}
	m.host.now = m.host.clock.now()
	cmd = m.take(msg)
	m.link.date(m.host)
	if !m.screen.main && m.link.deck.Ready() && m.link.deck.Synced() {
		if m.panes.environment.look.typing {
			m.screen.focus = keymap.Environment // what is typed stays in sight
		}
		m.screen.enterMain()
	}
	settleCaption(m)
	m.chosen.settle()
	shown := m.cards.settle()
	return m, tea.Batch(cmd, shown, m.panes.settle(m.screen.focus), m.ticker.keep(m.pace()))
}

// take hands a message to the part that it is for.
func (m *model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.screen.width, m.screen.height = msg.Width, msg.Height
	case tea.ColorProfileMsg:
		return m.profiled(msg)
	case tea.BackgroundColorMsg:
		m.host.look.Light = msg.Color != nil && theme.Light(msg.Color)
		m.restyle()
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		return m.paste(msg.Content)
	case tickMsg:
		m.ticker.take(msg)
	case toastMsg:
		m.toast.take(msg)
	case actionMsg:
		return m.answered(msg)
	case crashMsg:
		return m.leaving.crash(msg.err)
	case interruptMsg:
		return m.leaving.leave(Interrupted)
	default:
		if m.link.take(msg) {
			return m.leaving.leave(EnvironmentGone)
		}
		m.panes.inspector.take(msg)
		var said tea.Cmd
		if _, changed := msg.(eventsMsg); changed {
			said = m.host.cfg.Notices.of(m.link.deck, &m.toast)
		}
		return tea.Batch(said, m.actions.take(msg), callsOf(&m.actions).take(msg, &m.toast),
			shellsOf(&m.actions).take(msg), m.panes.log.take(msg), m.panes.resources.take(msg),
			m.panes.insights.take(msg), m.panes.preview.take(msg))
	}
	return nil
}

// pace is that of what the screen shows.
func (m *model) pace() time.Duration {
	deck, pace := m.link.deck, idleTick
	switch {
	case deck.Starting(), !m.screen.main && len(deck.Components()) == 0:
		pace = spinTick
	case m.host.playing():
		pace = playTick
	case deck.Deploying(), !m.link.silent.IsZero(), m.screen.focus == keymap.Plugins:
		pace = tick
	}
	if m.host.look.ReducedMotion {
		return max(pace, slowTick)
	}
	return pace
}
