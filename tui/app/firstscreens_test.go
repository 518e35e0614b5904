// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// firstScreens are those that a newcomer sees: the cards, and what says why there is nothing to see yet.
func firstScreens() map[string]func(t *testing.T) *model {
	return map[string]func(t *testing.T) *model{
		"card-first-80x24":    func(t *testing.T) *model { return carded(t, 80, 24, decktest.First()) },
		"card-first-60x20":    func(t *testing.T) *model { return carded(t, 60, 20, decktest.First()) },
		"card-success-80x24":  func(t *testing.T) *model { return carded(t, 80, 24, decktest.Succeeded()) },
		"card-success-160x45": func(t *testing.T) *model { return carded(t, 160, 45, decktest.Succeeded()) },
		"empty-80x24": func(t *testing.T) *model {
			m := still(t)
			m.size(80, 24)
			objects := decktest.Running()
			m.see(objects[:len(objects)-2]...)
			return m
		},
		"no-target-80x24": func(t *testing.T) *model {
			app := decktest.Synced()
			app.DeployTargets, app.Sync = nil, deckv1.SyncStatus_SYNC_STATUS_UNKNOWN
			app.Labels = map[string]string{"pipedeck.dev/target": "lokal"}
			return withoutPlan(t, app, "plugin kubernetes: no deploy targets provided")
		},
		"planning-failed-80x24": func(t *testing.T) *model {
			return withoutPlan(t, decktest.Synced(), `cannot read the configuration: hello-world/app.pipecd.yaml:7:5: `+
				`unknown field "stagez" in spec.pipeline; did you mean "stages"?`)
		},
		"invalid-later-80x24": func(t *testing.T) *model {
			m := carded(t, 80, 24, decktest.Succeeded())
			app := decktest.Synced()
			app.Sync = deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG
			app.SyncReason = `hello-world/app.pipecd.yaml:7:5: unknown field "stagez" in spec.pipeline; ` +
				`did you mean "stages"?`
			app.SyncShortReason = "app.pipecd.yaml:7:5: unknown field"
			m.receive(app)
			return m
		},
	}
}

// withoutPlan is a screen of a deployment that ended in its planning.
func withoutPlan(t *testing.T, app *deckv1.Application, reason string) *model {
	m := still(t)
	m.size(80, 24)
	d := decktest.First()
	d.Stages, d.Strategy, d.Summary = nil, "AUTO", ""
	d.Status, d.StatusReason = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, reason
	m.see(append(deployed(d), app)...)
	return m
}
