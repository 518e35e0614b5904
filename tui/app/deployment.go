// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/view"
)

// deploymentPane is the shown deployment with its stages.
type deploymentPane struct {
	host   *host
	chosen *selection
	log    *logPane
	toast  *toast
	look   *find

	// width and height are those of the pane when it was drawn last.
	width, height int
	// at is where the cursor is and how it came there, fold the fold that it is on.
	at   graph.Cursor
	fold string
	// forms holds how stages are drawn by the application's id, where a user has chosen.
	forms map[string]view.Form
	// unfolded: no stages are folded. opened are the folds that were opened, by id.
	unfolded bool
	opened   []string
	memo     view.GraphMemo
}

func newDeploymentPane(h *host, chosen *selection, log *logPane, toast *toast) *deploymentPane {
	p := &deploymentPane{host: h, chosen: chosen, log: log, toast: toast, look: newFind(h.theme, "/"),
		forms: make(map[string]view.Form)}
	p.look.purpose, p.look.mark, p.look.changed = searching, p.mark, p.found
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
	query := strings.ToLower(p.look.query)
	return query != "" && slices.ContainsFunc([]string{s.GetName(), s.GetId(), s.GetDesc()},
		func(field string) bool { return strings.Contains(strings.ToLower(field), query) })
}

// found selects the first hit.
func (p *deploymentPane) found() {
	p.chosen.hold()
	if stage := p.chosen.stage(); stage != nil && p.hit(stage) {
		return
	}
	for _, stage := range p.chosen.stages() {
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
	stages := p.chosen.stages()
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
	return s.GetCanApprove() || state.Paused(s) || s.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE
}

// move goes to another stage, or in a list of stages that does not fit by a page.
func (p *deploymentPane) move(action keymap.Action) {
	if p.host.look.Big {
		p.moveBig(action)
		return
	}
	g := p.graph()
	places := g.Picture.Places
	if len(places) == 0 {
		return
	}
	at := max(0, slices.IndexFunc(places, func(place graph.Place) bool { return place.ID == p.cursor().ID }))
	switch action {
	case keymap.Up:
		p.point(p.cursor().Move(g.Stages, g.Picture, graph.Up))
	case keymap.Down:
		p.point(p.cursor().Move(g.Stages, g.Picture, graph.Down))
	case keymap.PageUp, keymap.PageDown:
		p.point(graph.Cursor{ID: places[moved(at, p.page(g, action), len(places))].ID})
	default:
		p.point(graph.Cursor{ID: places[moved(at, steps(action), len(places))].ID})
	}
}

// page is how many places a page key moves: to one about a screen above or below.
func (p *deploymentPane) page(g view.Graph, action keymap.Action) int {
	_, rows := p.view().GraphSize(p.width, p.height)
	if g.Form == view.Boxes {
		rows = len(g.Picture.Places) / 3
	}
	if action == keymap.PageUp {
		return -max(1, rows-1)
	}
	return max(1, rows-1)
}

// along goes along an edge: to a need or a follower.
func (p *deploymentPane) along(direction graph.Direction) tea.Cmd {
	g := p.graph()
	before := p.cursor()
	after := before.Move(g.Stages, g.Picture, direction)
	if after.ID != before.ID {
		p.point(after)
		return nil
	}
	at := slices.IndexFunc(g.Stages, func(s graph.Stage) bool { return s.ID == after.ID })
	if at < 0 {
		return nil
	}
	name := g.Stages[at].Name
	if direction == graph.Left {
		return p.toast.note(name + " needs no stage; 1 goes to the applications")
	}
	return p.toast.note("no stage follows " + name)
}

// cursor is where the keys are in the graph.
func (p *deploymentPane) cursor() graph.Cursor {
	if p.at.ID != p.chosen.stageID && (p.fold == "" || p.at.ID != p.fold) {
		p.at, p.fold = graph.Cursor{ID: p.chosen.stageID}, ""
	}
	return p.at
}

// point moves the cursor. On a fold, the stage selected before stays so.
func (p *deploymentPane) point(cursor graph.Cursor) {
	p.at, p.fold = cursor, ""
	if slices.ContainsFunc(p.chosen.deployment().GetStages(),
		func(s *deckv1.Stage) bool { return s.GetId() == cursor.ID }) {
		p.chosen.pinStage(cursor.ID)
		return
	}
	p.fold = cursor.ID
	p.chosen.hold()
}

// unfold opens the fold under the cursor and goes to its first stage; it returns false when there is none.
func (p *deploymentPane) unfold() bool {
	if p.cursor(); p.fold == "" {
		return false
	}
	shown := make(map[string]bool)
	for _, place := range p.graph().Picture.Places {
		shown[place.ID] = true
	}
	p.opened = append(p.opened, p.fold)
	for _, place := range p.graph().Picture.Places {
		if !shown[place.ID] {
			p.point(graph.Cursor{ID: place.ID})
			break
		}
	}
	return true
}

// turn changes between lanes and boxes. The form is kept for the application.
func (p *deploymentPane) turn() {
	next := view.Boxes
	if p.graph().Form == view.Boxes {
		next = view.Lanes
	}
	p.forms[p.chosen.app] = next
}

// toggleFolds shows all stages, or folds those that a reader can do without; the cursor follows into a fold.
func (p *deploymentPane) toggleFolds() {
	p.unfolded, p.opened, p.fold = !p.unfolded, nil, ""
	p.at = graph.Cursor{ID: p.chosen.stageID}
	if fold := p.view().FoldOver(); !p.unfolded && fold != "" {
		p.at.ID, p.fold = fold, fold
	}
}

// graph is the drawing on the screen.
func (p *deploymentPane) graph() view.Graph {
	p.cursor()
	v := p.view()
	return v.Graph(v.GraphSize(p.width, p.height))
}

func (p *deploymentPane) view() view.Deployment {
	return view.Deployment{
		Theme: p.host.theme, Application: p.chosen.application(), Name: p.chosen.name(),
		Deployment:  p.chosen.deployment(),
		Environment: p.chosen.deck.Environment(), Problem: p.chosen.deck.ProblemOf(p.chosen.app),
		Queue:   p.queue(),
		Earlier: p.chosen.earlier(), Stage: p.chosen.stageID, Fold: p.fold, Form: p.forms[p.chosen.app],
		Folds: view.Folds{Unfolded: p.unfolded || p.host.look.Big, Open: p.opened}, Usual: p.usual(), Memo: &p.memo,
		Held: p.held(), Keys: p.host.actionKeys(),
		Now: p.host.known,
	}
}

// queue is what waits with the shown deployment.
func (p *deploymentPane) queue() view.Queue {
	deck, shown := p.chosen.deck, p.chosen.deployment()
	others := slices.DeleteFunc(deck.Queued(p.chosen.app), func(d *deckv1.Deployment) bool {
		return d.GetId() == shown.GetId()
	})
	return view.Queue{Others: others, Ahead: deck.Ahead(shown),
		Time: state.QueueTime(shown, deck.Deployments(p.chosen.app), p.host.known)}
}

// held says where debuggers hold the plugins of the running stages, by stage.
func (p *deploymentPane) held() map[string]string {
	var held map[string]string
	for _, stage := range p.chosen.deployment().GetStages() {
		if stage.GetStatus() != deckv1.StageStatus_STAGE_STATUS_RUNNING {
			continue
		}
		if by := view.HeldBy(p.chosen.deck.PluginOf(p.chosen.deployment(), stage)); by != "" {
			if held == nil {
				held = map[string]string{}
			}
			held[stage.GetId()] = by
		}
	}
	return held
}

// usual is how long the selected stage took in the last deployment of the application in which it succeeded.
func (p *deploymentPane) usual() time.Duration {
	stage := p.chosen.stage()
	if stage.GetStatus() != deckv1.StageStatus_STAGE_STATUS_RUNNING {
		return 0
	}
	for _, d := range p.chosen.deck.Deployments(p.chosen.app) {
		for _, s := range d.GetStages() {
			if s.GetStatus() == deckv1.StageStatus_STAGE_STATUS_SUCCESS && s.GetConfigId() == stage.GetConfigId() &&
				s.GetName() == stage.GetName() && s.GetIndex() == stage.GetIndex() {
				return state.StageTook(s, p.host.now)
			}
		}
	}
	return 0
}

// want is the height that the stages would like to have, where they can choose at most most.
func (p *deploymentPane) want(width, most int) int {
	height := p.view().Height(width, most)
	if p.look.shown() {
		height++ // its line
	}
	return height
}

func (p *deploymentPane) draw(width, height int, focused bool) string {
	p.width, p.height = width, height
	p.cursor()
	v := p.view()
	v.Focused = focused
	return drawFound(p.look, p.hits(), width, height, v.Draw)
}

// hits says how many stages match what the user looks for.
func (p *deploymentPane) hits() string {
	hits := 0
	for _, stage := range p.chosen.deployment().GetStages() {
		if p.hit(stage) {
			hits++
		}
	}
	switch {
	case hits == 1:
		return "1 hit"
	case hits == 0 && p.look.query != "":
		return "no hit in the stages, esc clears"
	}
	return fmt.Sprintf("%d hits, n N", hits)
}
