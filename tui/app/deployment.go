// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/view"
)

// deploymentPane is the shown deployment with its stages.
type deploymentPane struct {
	host   *host
	chosen *selection
	log    *logPane
	toast  *toast
	look   *find
}

func newDeploymentPane(h *host, chosen *selection, log *logPane, toast *toast) *deploymentPane {
	p := &deploymentPane{host: h, chosen: chosen, log: log, toast: toast, look: newFind(h.theme, "/")}
	p.look.says, p.look.mark, p.look.changed = searching, p.mark, p.found
	return p
}

func (p *deploymentPane) finding() *find { return p.look }

// mark keeps what is selected while the user searches, and returns what undoes it.
func (p *deploymentPane) mark() func() {
	undo := p.chosen.mark()
	p.chosen.hold()
	return undo
}

// hit reports whether a stage is what the user looks for.
func (p *deploymentPane) hit(s *deckv1.Stage) bool {
	query := logbuf.Query(p.look.query) // as in the log
	return slices.ContainsFunc([]string{s.GetName(), s.GetId(), s.GetDesc()},
		func(field string) bool { return len(query.Matches(field)) > 0 })
}

// found selects the first hit.
func (p *deploymentPane) found() {
	p.chosen.hold()
	if stage := p.chosen.stage(); stage != nil && p.hit(stage) {
		return
	}
	for _, stage := range view.StageOrder(p.chosen.deployment()) {
		if p.hit(stage) {
			p.chosen.pinStage(stage.GetId())
			return
		}
	}
}

// next goes to the next hit, or without a search to the next stage that failed or waits; back when n is negative.
func (p *deploymentPane) next(n int) tea.Cmd {
	wanted, none := p.hit, "no other stage matches "+strconv.Quote(p.look.query)
	if p.look.query == "" {
		wanted, none = troubled, "no other stage has failed or waits for approval"
	}
	stages := view.StageOrder(p.chosen.deployment())
	at := index(stages, func(s *deckv1.Stage) bool { return s.GetId() == p.chosen.stageID })
	for i := 1; i < len(stages); i++ {
		if stage := stages[(at+n*i+len(stages))%len(stages)]; wanted(stage) {
			p.chosen.pinStage(stage.GetId())
			return nil
		}
	}
	return p.toast.note(none)
}

func troubled(s *deckv1.Stage) bool {
	return s.GetCanApprove() || s.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE
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
func (p *deploymentPane) want(width int, roomy bool) int {
	height := p.view().Height(width, roomy)
	if p.look.shown() {
		height++ // its line
	}
	return height
}

func (p *deploymentPane) draw(width, height int, focused bool) string {
	v := p.view()
	v.Focused = focused
	hits := 0
	for _, stage := range p.chosen.deployment().GetStages() {
		if p.hit(stage) {
			hits++
		}
	}
	note := fmt.Sprintf("%d hits, n N", hits)
	if hits == 1 {
		note = "1 hit"
	}
	if hits == 0 && p.look.query != "" {
		note = "no hit in the stages, esc clears"
	}
	return drawFound(p.look, note, width, height, v.Draw)
}
