// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestAttentionCountsApplicationsAndPlugins(t *testing.T) {
	t.Parallel()
	d := New()
	apply := func(object proto.Message) {
		e := &deckv1.Event{}
		switch x := object.(type) {
		case *deckv1.Application:
			e.Kind = &deckv1.Event_Application{Application: x}
		case *deckv1.Deployment:
			e.Kind = &deckv1.Event_Deployment{Deployment: x}
		case *deckv1.Plugin:
			e.Kind = &deckv1.Event_Plugin{Plugin: x}
		}
		d.Apply(e)
	}
	const sick = deckv1.HealthStatus_HEALTH_STATUS_OTHER
	apply(&deckv1.Application{Id: "healthy"})
	apply(&deckv1.Application{Id: "sick", Health: sick})
	apply(&deckv1.Application{Id: "off", Health: sick, Disabled: true})
	apply(&deckv1.Application{Id: "invalid", Health: sick, Sync: deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG})
	apply(&deckv1.Application{Id: "failed", Health: sick})
	apply(&deckv1.Application{Id: "again", Deploying: true})
	const failure = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE
	apply(&deckv1.Deployment{Id: "1", ApplicationId: "failed", Status: failure})
	apply(&deckv1.Deployment{Id: "2", ApplicationId: "again", Status: failure})
	apply(&deckv1.Deployment{Id: "3", ApplicationId: "healthy",
		Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING, Stages: []*deckv1.Stage{{}, {CanApprove: true}}})
	apply(&deckv1.Application{Id: "retried"})
	apply(&deckv1.Deployment{Id: "4", ApplicationId: "retried", Status: failure})
	apply(&deckv1.Deployment{Id: "5", ApplicationId: "retried", CreatedAt: timestamppb.Now(),
		Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED})
	apply(&deckv1.Application{Id: "stopped"})
	apply(&deckv1.Deployment{Id: "6", ApplicationId: "stopped",
		Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS})
	apply(&deckv1.Deployment{Id: "7", ApplicationId: "stopped", CreatedAt: timestamppb.Now(),
		Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED})
	apply(&deckv1.Plugin{Name: "a", State: deckv1.Plugin_STATE_RUNNING})
	apply(&deckv1.Plugin{Name: "b", State: deckv1.Plugin_STATE_FAILED})
	apply(&deckv1.Plugin{Name: "c", State: deckv1.Plugin_STATE_RESTARTING})
	require.Equal(t, Attention{FailedApplications: 3, UnhealthyApplications: 1, Waiting: 1, Plugins: 3,
		RunningPlugins: 1, FailedPlugins: 1}, d.Attention())
}
