// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// TakesFaults reports whether the piped of an application takes faults while it runs.
func TakesFaults(d *Deck, app *deckv1.Application) bool {
	return d.pipeds[app.GetPipedId()].GetTakesFaults()
}

// Faults are those that wait for the next attempt at a stage of an application.
func Faults(d *Deck, app *deckv1.Application, stage *deckv1.Stage) (waiting []*deckv1.Fault) {
	for _, f := range d.pipeds[app.GetPipedId()].GetFaults() {
		ofApp := f.GetApplicationId() == "" || f.GetApplicationId() == app.GetId()
		ofStage := f.GetStage() == stage.GetName() || f.GetStage() == stage.GetConfigId()
		if f.GetStage() == "" {
			ofStage = strings.HasPrefix(f.GetRule(), "cluster") // of every stage; others are of the control plane
		}
		if ofApp && ofStage {
			waiting = append(waiting, f)
		}
	}
	return waiting
}
