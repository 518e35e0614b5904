// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/state"
)

const base, head = "0123456base", "89abcdehead"

func app(name string, sync deckv1.SyncStatus, reason string) *deckv1.Application {
	return &deckv1.Application{Id: name, Name: name, Path: name, ConfigFilename: "app.pipecd.yaml", Sync: sync,
		SyncReason: reason}
}

func deployed(name, commit string, at float64, status deckv1.DeploymentStatus, stages ...*deckv1.Stage,
) *deckv1.Deployment {
	return &deckv1.Deployment{Id: name + commit, ApplicationId: name, ApplicationName: name, Status: status,
		StatusReason: "because", Strategy: "PIPELINE", Commit: &deckv1.Commit{Hash: commit}, CreatedAt: decktest.At(at),
		Stages: stages}
}

func deckOf(objects ...proto.Message) *state.Deck {
	d := state.New()
	for _, event := range decktest.Events(append(objects, &deckv1.Synced{})...) {
		d.Apply(event)
	}
	return d
}

const (
	synced    = deckv1.SyncStatus_SYNC_STATUS_SYNCED
	invalid   = deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG
	running   = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING
	succeeded = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	failed    = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE
)

func TestAPhaseSettlesWhenEachAwaitedApplicationIsDeployedFromTheCommit(t *testing.T) {
	t.Parallel()
	web := Application{File: "web/app.pipecd.yaml", Name: "web"}
	next := Application{File: "next/app.pipecd.yaml", Name: "next", follows: true}
	for name, c := range map[string]struct {
		objects        []proto.Message
		awaited        []Application
		settled        bool
		failed, broken int
		left           string
	}{
		"not registered": {nil, []Application{web}, false, 0, 0, "web: piped has not registered it yet"},
		"only the base, and in sync with it": {
			[]proto.Message{app("web", synced, ""), deployed("web", base, 1, succeeded)},
			[]Application{web}, false, 0, 0, "web: not deployed yet",
		},
		"running": {
			[]proto.Message{app("web", synced, ""), deployed("web", head, 2, running)},
			[]Application{web}, false, 0, 0, "web: RUNNING: because",
		},
		"deployed": {
			[]proto.Message{app("web", synced, ""), deployed("web", base, 1, succeeded),
				deployed("web", head, 2, succeeded)},
			[]Application{web}, true, 0, 0, "",
		},
		"failed": {
			[]proto.Message{app("web", synced, ""), deployed("web", head, 2, failed)},
			[]Application{web}, true, 1, 0, "",
		},
		"another one still runs": {
			[]proto.Message{app("web", synced, ""), deployed("web", head, 2, succeeded), app("other", synced, ""),
				deployed("other", base, 1, running)},
			[]Application{web}, false, 0, 0, "",
		},
		"a chain goes on": {
			[]proto.Message{app("web", synced, ""), deployed("web", head, 2, succeeded), app("next", synced, "")},
			[]Application{web, next}, false, 0, 0, "next: not deployed yet",
		},
		"a chain has ended with a failure": {
			[]proto.Message{app("web", synced, ""), deployed("web", head, 2, failed), app("next", synced, "")},
			[]Application{web, next}, true, 1, 0, "next: not deployed yet",
		},
		"a configuration that is not valid": {
			[]proto.Message{app("web", invalid, "line 3")}, []Application{web}, true, 0, 1, "",
		},
		"one that was not valid before": {
			[]proto.Message{app("web", invalid, "line 1")}, []Application{web}, false, 0, 0, "web: not deployed yet",
		},
		"disabled": {
			[]proto.Message{&deckv1.Application{Id: "web", Name: "web", Path: "web",
				ConfigFilename: "app.pipecd.yaml", Disabled: true}},
			[]Application{web}, true, 0, 0, "",
		},
		"nothing awaited": {
			[]proto.Message{app("web", synced, ""), deployed("web", base, 1, succeeded)}, nil, true, 0, 0, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &phase{commit: head, awaited: c.awaited, stale: map[string]string{"web": "line 1"}}
			v := p.judge(deckOf(c.objects...))
			require.Equal(t, c.settled, v.settled)
			require.Len(t, v.failed, c.failed)
			require.Len(t, v.broken, c.broken)
			if c.left == "" {
				require.Empty(t, v.left)
			} else {
				require.Equal(t, []string{c.left}, v.left)
			}
		})
	}
}
