// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// burst is the longest time between two changes that a user sees as one event, and maxBurst that of all of them.
const (
	burst    = 300 * time.Millisecond
	maxBurst = 2 * time.Second
)

// marks are the times after begin at which the state of a deployment, a stage, a plugin or a component changes, a
// problem begins or ends, the connection is lost or there again, or a story says something else, in order. Changes that
// follow each other at once are one, at the time of the last.
func marks(records []*deckv1.SessionRecord, begin time.Duration) []time.Duration {
	known := map[string]string{}
	var all []time.Duration
	var first time.Duration
	for _, record := range records {
		key, now := notable(record.GetEvent())
		if key == "" || known[key] == now {
			continue
		}
		known[key] = now
		at, n := record.GetAt().AsDuration(), len(all)
		switch {
		case at <= begin:
		case n > 0 && at-all[n-1] <= burst && at-first <= maxBurst:
			all[n-1] = at
		default:
			all, first = append(all, at), at
		}
	}
	return all
}

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
	case *deckv1.Event_Caption:
		value = kind.Caption.GetText()
	case *deckv1.Event_Connection:
		return "connection", kind.Connection.GetLost()
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
