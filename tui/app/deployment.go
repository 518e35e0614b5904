// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// deploymentPane is the shown deployment with its stages.
type deploymentPane struct {
	host   *host
	chosen *selection
	log    *logPane
}

func (p *deploymentPane) move(action keymap.Action) {
	if action == keymap.PageUp || action == keymap.PageDown {
		p.log.move(action) // the stages fit; the log below is what is long
		return
	}
	stages := view.StageOrder(p.chosen.deployment())
	if len(stages) == 0 {
		return
	}
	at := index(stages, func(s *deckv1.Stage) bool { return s.GetId() == p.chosen.stageID })
	p.chosen.pinStage(stages[moved(at, steps(action), len(stages))].GetId())
}

func (p *deploymentPane) view() view.Deployment {
	return view.Deployment{
		Theme: p.host.theme, Application: p.chosen.application(), Deployment: p.chosen.deployment(),
		Earlier: p.chosen.earlier(), Stage: p.chosen.stageID, Now: p.host.now,
	}
}

// want is the height that the stages would like to have.
func (p *deploymentPane) want(width int, roomy bool) int { return p.view().Height(width, roomy) }

func (p *deploymentPane) draw(width, height int, focused bool) string {
	v := p.view()
	v.Focused = focused
	return v.Draw(width, height)
}
