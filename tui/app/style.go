// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// profiled takes how many colours the terminal shows, and asks for its background where that decides the theme. A
// terminal that does not answer keeps what the environment said.
func (m *model) profiled(msg tea.ColorProfileMsg) tea.Cmd {
	look := &m.host.look
	look.Depth = theme.DepthOf(msg.String())
	m.restyle()
	shades := look.Depth == theme.TrueColor || look.Depth == theme.Colors256
	if look.NoColor || !shades || !look.Choice.DependsOnBackground() {
		return nil
	}
	return tea.RequestBackgroundColor
}

// restyle draws everything in the theme of the present look.
func (m *model) restyle() {
	th := theme.New(m.host.look)
	m.host.theme = th
	for _, p := range m.panes.all() {
		p.finding().theme = th
	}
	m.panes.log.view.Theme = th
	m.panes.preview.look.theme, m.panes.preview.search.theme = th, th
	m.panes.deployment.memo = view.GraphMemo{}
	for _, one := range m.overlays.stack {
		if keeps, ok := one.(interface{ restyle(theme.Theme) }); ok {
			keeps.restyle(th)
		}
	}
}
