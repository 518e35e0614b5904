// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/view"
)

// selection is what the user looks at. What was chosen by hand stays; the rest follows what happens.
type selection struct {
	deck *state.Deck

	app       string
	appPinned bool
	// pinnedDeployment is the deployment that stays on the screen: one from the history, or the one that the user
	// reads. Empty means the newest.
	pinnedDeployment string
	stageID          string
	// stagePinned: the application, the deployment and the stage stay until release.
	stagePinned bool
	// started is how many stages of the deployment had started when the stage was pinned; newest is the newest
	// deployment then.
	started int
	newest  string
	// stageOf is the deployment that stageID belongs to.
	stageOf string
	// placed are the stages of a deployment as they stand in its graph. A deployment that changes is another object.
	placed struct {
		of     *deckv1.Deployment
		stages []*deckv1.Stage
	}
}

func (s *selection) application() *deckv1.Application { return s.deck.Application(s.app) }

// name is that of the application for users.
func (s *selection) name() string { return s.deck.ApplicationName(s.application()) }

// deployment is the one on the screen; nil before the first.
func (s *selection) deployment() *deckv1.Deployment {
	if d := s.deck.Deployment(s.pinnedDeployment); d != nil {
		return d
	}
	return s.deck.Present(s.app)
}

// earlier reports whether the deployment on the screen has been followed by others, and not by choice of the UI.
func (s *selection) earlier() bool {
	d := s.deployment()
	return d != nil && s.pinnedDeployment != "" && d != s.deck.Present(s.app) &&
		d != s.deck.Newest(s.app)
}

// stages are those of the deployment on the screen, as they stand in its graph from the top down.
func (s *selection) stages() []*deckv1.Stage {
	if d := s.deployment(); d != s.placed.of {
		s.placed.of, s.placed.stages = d, view.StageOrder(d)
	}
	return s.placed.stages
}

func (s *selection) stage() *deckv1.Stage {
	for _, stage := range s.deployment().GetStages() {
		if stage.GetId() == s.stageID {
			return stage
		}
	}
	return nil
}

// pinApplication chooses an application by hand.
func (s *selection) pinApplication(id string) { s.app, s.appPinned, s.pinnedDeployment = id, true, "" }

// pinDeployment chooses a deployment of the application by hand; the newest follows newer ones.
func (s *selection) pinDeployment(d *deckv1.Deployment) {
	s.pinnedDeployment, s.stagePinned = d.GetId(), false
	if d == s.deck.Present(s.app) {
		s.pinnedDeployment = ""
	}
}

// pinStage chooses a stage by hand.
func (s *selection) pinStage(id string) {
	s.stageID, s.stagePinned = id, false
	s.hold()
}

// hold keeps what is on the screen there, whatever begins elsewhere, until release.
func (s *selection) hold() {
	d := s.deployment()
	if s.stagePinned || d == nil {
		return
	}
	s.stagePinned, s.pinnedDeployment = true, d.GetId()
	s.started, s.newest = startedStages(d), s.deck.Newest(s.app).GetId()
}

// news says what has begun since hold; empty when nothing has.
func (s *selection) news() string {
	if !s.stagePinned {
		return ""
	}
	if s.newest != s.deck.Newest(s.app).GetId() {
		return "a newer deployment"
	}
	switch on := startedStages(s.deployment()) - s.started; {
	case on == 1:
		return "1 stage on"
	case on > 1:
		return fmt.Sprintf("%d stages on", on)
	}
	return ""
}

func startedStages(d *deckv1.Deployment) int {
	started := 0
	for _, stage := range d.GetStages() {
		if stage.GetStatus() > deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			started++
		}
	}
	return started
}

// pinned reports whether anything keeps the screen from what matters most now.
func (s *selection) pinned() bool { return s.stagePinned || s.pinnedDeployment != "" }

// release goes back to the newest deployment and to what matters most of it.
func (s *selection) release() { s.pinnedDeployment, s.stagePinned = "", false }

// mark remembers what is selected, and returns what selects it again.
func (s *selection) mark() func() {
	before := *s
	return func() { *s = before }
}

// settle brings the selection in line with what the deck API has sent.
func (s *selection) settle() {
	s.settleApplication()
	s.settleStage()
}

// settleApplication keeps the present one unless it is gone; by itself it goes where a deployment begins.
func (s *selection) settleApplication() {
	if s.application() == nil {
		s.appPinned, s.pinnedDeployment, s.app = false, "", ""
		if apps := s.deck.Applications(); len(apps) > 0 {
			s.app = apps[0].GetId()
		}
	}
	if s.appPinned || s.stagePinned || running(s.deck.Present(s.app)) {
		return
	}
	var latest *deckv1.Deployment
	for _, app := range s.deck.Applications() {
		if d := s.deck.Present(app.GetId()); running(d) &&
			(latest == nil || d.GetCreatedAt().AsTime().After(latest.GetCreatedAt().AsTime())) {
			latest = d
		}
	}
	if latest != nil {
		s.app, s.pinnedDeployment = latest.GetApplicationId(), ""
	}
}

func running(d *deckv1.Deployment) bool { return d != nil && !state.Ended(d.GetStatus()) }

// settleStage selects what matters most: a stage that waits for approval, one that runs, one that
// failed, the last that ran, the first.
func (s *selection) settleStage() {
	d := s.deployment()
	if d.GetId() != s.stageOf {
		s.stageOf, s.stagePinned, s.stageID = d.GetId(), false, ""
	}
	if s.stagePinned && s.stage() != nil {
		return
	}
	s.stagePinned = false
	best, rank := "", -1
	for _, stage := range s.stages() {
		if r := importance(stage); r > rank || (r == rank && r == ranDone) {
			best, rank = stage.GetId(), r
		}
	}
	s.stageID = best
}

const ranDone = 1

func importance(stage *deckv1.Stage) int {
	switch {
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING && stage.GetCanApprove(), state.Paused(stage):
		return 4
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING:
		return 3
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE:
		return 2
	case state.StageEnded(stage.GetStatus()) && stage.GetStartedAt().IsValid():
		return ranDone
	}
	return 0
}

// index is the position of the element with that key, at least 0.
func index[T any](list []T, is func(T) bool) int { return max(0, slices.IndexFunc(list, is)) }

// moved is the position n steps from at, within a list.
func moved(at, n, length int) int { return max(0, min(at+n, length-1)) }
