// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// View draws the screen. A panic ends the UI in order, so that the terminal is restored.
func (m *model) View() (v tea.View) {
	v.AltScreen = true
	if m.leaving.err != nil {
		return v
	}
	defer func() {
		if r := recover(); r != nil {
			err := &PanicError{Value: r, Stack: debug.Stack()}
			m.host.work.spawn(func(context.Context) { m.host.send(crashMsg{err}) })
		}
	}()
	v.SetContent(m.render())
	return v
}

func (m *model) render() string {
	width, height := m.screen.width, m.screen.height
	switch {
	case width <= 0 || height <= 0:
		return ""
	case m.screen.tooSmall():
		return m.host.theme.Ground(view.TooSmall(width, height, leastWidth, leastHeight))
	case m.host.look.Big && m.screen.big():
		return m.overlays.draw(m.host.theme, m.renderBig(width, height), width, height)
	case m.screen.small():
		return m.overlays.draw(m.host.theme, m.renderSmall(), width, height)
	}
	caption := m.host.captionRows(width)
	l := arrange(width, height-caption, m.demand())
	if m.screen.main {
		l.giveCard(m.cards.height)
	}
	l.status.y, l.footer.y = l.status.y+caption, l.footer.y+caption
	parts := []part{{l.header, m.link.header(m.host, m.screen.main).Draw(width)}}
	parts = append(parts, m.drawBody(l)...)
	said := m.drawStatus(width, height/2, m.host.drawPlayback(width))
	parts = append(parts, part{l.status, said[len(said)-1]}, part{l.footer, m.drawFooter(width)})
	return m.overlays.draw(m.host.theme, cover(compose(height, parts), said, l.status.y), width, height)
}

func (m *model) demand() demand {
	need := demand{main: m.screen.main, wide: m.screen.wide(), plugins: len(m.link.deck.Plugins())}
	if m.panes.open(&m.screen) == pane(m.panes.deployment) {
		need.stages = m.panes.deployment.want
	}
	return need
}

// drawBody draws the panes, those of the left column first.
func (m *model) drawBody(l layout) []part {
	if !m.screen.main {
		return []part{{l.side, m.panes.environment.drawStartup(l.side.width, l.side.height)}}
	}
	focus := m.screen.focus
	if m.screen.zoomed || m.host.look.Big {
		return []part{m.panes.drawZoomed(focus, l)}
	}
	in := func(r rect, draw func(width, height int, focused bool) string, focused bool) part {
		if r.x+r.width == l.header.width {
			return part{r, draw(r.width, r.height, focused)}
		}
		blank := strings.Repeat(" ", gap)
		return part{r, strings.ReplaceAll(draw(r.width-gap, r.height, focused), "\n", blank+"\n") + blank}
	}
	var parts []part
	if l.strip.height > 0 {
		parts = append(parts, part{l.strip, m.panes.applications.drawStrip(l.strip.width)})
	} else {
		parts = append(parts, in(l.applications, m.panes.applications.draw, focus == keymap.Applications),
			in(l.plugins, m.panes.plugins.drawList, focus == keymap.Plugins))
	}
	side := m.panes.open(&m.screen)
	parts = append(parts, in(l.side, side.draw, side == m.panes.of(focus)))
	if l.log.height > 0 {
		parts = append(parts, in(l.log, m.panes.log.draw, focus == keymap.Log))
	}
	return append(parts, m.cards.parts(l.card)...)
}

// header is the first line; main says that the main screen is shown.
func (l *link) header(h *host, main bool) view.Header {
	deck := l.deck
	header := view.Header{
		Theme: h.theme, Name: h.cfg.Name, Version: h.cfg.Version,
		Clusters: deck.Environment().GetClusters(), Failed: len(deck.Failed()), Problems: deck.Problems(),
		Attention: deck.Attention(),
	}
	switch {
	case l.stopped():
		header.Away = "stopped"
	case l.trouble != nil && l.client != nil:
		header.Away = "does not answer"
	case !l.silent.IsZero():
		header.Silent = "no answer for " + l.silence(h)
	}
	for _, plugin := range deck.Plugins() {
		if by := view.HeldBy(plugin); by != "" {
			header.Held = text.Line(deck.PluginName(plugin)) + " " + by
			break
		}
	}
	if main {
		header.Hint = ", press " + h.key(keymap.ShowEnvironment)
	}
	for _, c := range deck.Components() {
		header.All++
		if c.GetState() == deckv1.Component_STATE_READY {
			header.Ready++
		}
		if main && c.GetState() == deckv1.Component_STATE_STARTING && c.GetTotal() > 0 {
			header.Starting = fmt.Sprintf("%s: %s %d%%", text.Line(c.GetName()), text.FirstLine(c.GetDetail()),
				100*c.GetDone()/c.GetTotal())
		}
	}
	return header
}

// drawStatus draws what is said above the footer, in up to most lines; playback is the line of a recorded session,
// which is empty where it stands elsewhere.
func (m *model) drawStatus(width, most int, playback string) []string {
	e := m.link.deck.Environment()
	status := view.Status{
		Theme: m.host.theme, Toast: m.toast.text, Bad: m.toast.bad, Remark: m.toast.remark,
		Simulated: e.GetSimulated(), Repository: e.GetRepository(), Edit: e.GetEditHint(), Live: e.GetLive(),
		Unread: m.link.deck.RepositoryUnread(),
	}
	status.Playback = playback
	status.Caption = m.host.drawCaption(width)
	if line := m.typing(); line != nil {
		status.Typing = line.says
	}
	status.Banner = m.link.banner(m.host)
	return status.Draw(width, most)
}

func (m *model) drawFooter(width int) string {
	if m.input.ignoring {
		return m.host.theme.Warn.Render(text.Pad(" no search here: press esc to use the keys again", width,
			m.host.theme.Ellipsis))
	}
	bindings := m.input.keys.Footer(m.scope(), m.actions.reasons())
	if line := m.typing(); line != nil {
		bindings = line.footer(bindings)
	}
	return view.Footer{Theme: m.host.theme, Bindings: bindings}.Draw(width)
}
