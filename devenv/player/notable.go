// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// notable is an object that a user follows and what counts of it: another value is an event of the session. The key is
// empty for others.
func notable(event *deckv1.Event) (key, value string) {
	switch kind := event.GetKind().(type) {
	case *deckv1.Event_Component:
		value = kind.Component.GetState().String()
	case *deckv1.Event_Plugin:
		value = kind.Plugin.GetState().String()
	case *deckv1.Event_Problem:
		value = kind.Problem.GetReason()
	case *deckv1.Event_Deployment:
		value = deploymentValue(kind.Deployment)
	case *deckv1.Event_Removed:
		return "gone", kind.Removed.GetProblemId() + " " + kind.Removed.GetApplicationId()
	default:
		return "", ""
	}
	return keyOf(event), value
}

func deploymentValue(d *deckv1.Deployment) string {
	words := []string{d.GetStatus().String()}
	for _, stage := range d.GetStages() {
		words = append(words, stage.GetId(), stage.GetStatus().String())
		if stage.GetPause() != nil {
			words = append(words, "paused")
		}
		if stage.GetCanApprove() {
			words = append(words, "waits")
		}
	}
	return strings.Join(words, " ")
}
