// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/controlplane/controlplanetest"
)

// world is a client of a control plane whose calls pass an Observer, what it has notified about, and a clock that goes
// on a second with each look.
type world struct {
	*Observer
	*controlplane.Client
	events []Event

	mu           sync.Mutex
	refuse       error
	applications []*model.Application
	commands     []*model.Command
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{}
	now := time.Unix(1000, 0)
	w.Observer = New(
		func() time.Time { now = now.Add(time.Second); return now }, func(e Event) { w.events = append(w.events, e) },
	)
	w.Client = controlplanetest.Dial(t, controlplanetest.Serve(t, w.answer), controlplane.Layers{Observe: w.Intercept})
	return w
}

// answer takes every report, or refuses it.
func (w *world) answer(_ context.Context, method string, _ proto.Message) (proto.Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return nil, w.refuse
	}
	switch method {
	case "ListApplications":
		return &ps.ListApplicationsResponse{Applications: w.applications}, nil
	case "ListUnhandledCommands":
		return &ps.ListUnhandledCommandsResponse{Commands: w.commands}, nil
	default:
		return nil, nil
	}
}

// reported returns the types of the new events.
func (w *world) reported() []string {
	var list []string
	for _, e := range w.events {
		list = append(list, e.Type.String())
	}
	w.events = nil
	return list
}

func (w *world) create(t *testing.T, id string) error {
	t.Helper()
	_, err := w.CreateDeployment(t.Context(), &ps.CreateDeploymentRequest{Deployment: &model.Deployment{
		Id: id, ApplicationId: "a", ApplicationName: "app", Labels: map[string]string{"env": "dev"},
		Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "c1"}},
	}})
	return err
}

func (w *world) stage(t *testing.T, s model.StageStatus, retried int32) {
	t.Helper()
	_, err := w.ReportStageStatusChanged(
		t.Context(),
		&ps.ReportStageStatusChangedRequest{DeploymentId: "d", StageId: "s", Status: s, RetriedCount: retried},
	)
	require.NoError(t, err)
}

// A stage whose plugin says when it waits for an approval is reported then, and as approved once a user has approved.
func TestAStageThatWaitsLaterIsReportedThen(t *testing.T) {
	t.Parallel()
	for name, asks := range map[string]bool{"it asks": true, "it does not ask": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			require.NoError(t, w.create(t, "d"))
			_, err := w.ReportDeploymentPlanned(t.Context(), &ps.ReportDeploymentPlannedRequest{DeploymentId: "d",
				Stages: []*model.PipelineStage{{Id: "s", Name: "APPLY",
					AvailableOperation: model.ManualOperation_MANUAL_OPERATION_APPROVE,
					Metadata:           map[string]string{"pipedeck/waiting": "no"}}}})
			require.NoError(t, err)
			w.reported()
			w.stage(t, model.StageStatus_STAGE_RUNNING, 0)
			require.Equal(t, []string{"STAGE_STARTED"}, w.reported())
			if !asks {
				w.stage(t, model.StageStatus_STAGE_SUCCESS, 0)
				require.Equal(t, []string{"STAGE_SUCCEEDED"}, w.reported())
				return
			}
			for _, metadata := range []map[string]string{{"pipedeck/waiting": "yes"}, {"pipedeck/waiting": "no"},
				{approvedUsersKey: "ada"}} {
				_, err = w.SaveStageMetadata(t.Context(), &ps.SaveStageMetadataRequest{DeploymentId: "d", StageId: "s",
					Metadata: metadata})
				require.NoError(t, err)
			}
			require.Equal(t, []string{"DEPLOYMENT_WAIT_APPROVAL"}, w.reported())
			w.stage(t, model.StageStatus_STAGE_SUCCESS, 0)
			require.Equal(t, []string{"STAGE_SUCCEEDED", "DEPLOYMENT_APPROVED"}, w.reported())
		})
	}
}

func TestTheCourseOfADeploymentIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	require.NoError(t, w.create(t, "d"))
	require.NoError(t, w.create(t, "d"), "a second try of the same")
	_, err := w.ReportDeploymentPlanned(
		ctx,
		&ps.ReportDeploymentPlannedRequest{DeploymentId: "d", Summary: "two stages", Stages: []*model.PipelineStage{
			{Id: "s", Name: "WAIT_APPROVAL", AvailableOperation: model.ManualOperation_MANUAL_OPERATION_APPROVE},
		}},
	)
	require.NoError(t, err)
	for range 2 {
		_, err = w.ReportDeploymentStatusChanged(
			ctx,
			&ps.ReportDeploymentStatusChangedRequest{
				DeploymentId: "d", Status: model.DeploymentStatus_DEPLOYMENT_RUNNING,
			},
		)
		require.NoError(t, err)
	}
	require.Equal(t, "two stages", w.events[1].Reason)
	require.Equal(t, map[string]string{"env": "dev"}, w.events[2].Deployment.GetLabels())
	require.Equal(t, []string{"DEPLOYMENT_TRIGGERED", "DEPLOYMENT_PLANNED", "DEPLOYMENT_STARTED"}, w.reported())

	w.stage(t, model.StageStatus_STAGE_RUNNING, 0)
	w.stage(t, model.StageStatus_STAGE_RUNNING, 1)
	_, err = w.SaveStageMetadata(
		ctx,
		&ps.SaveStageMetadataRequest{
			DeploymentId: "d", StageId: "s", Metadata: map[string]string{approvedUsersKey: "ada, bob"},
		},
	)
	require.NoError(t, err)
	w.stage(t, model.StageStatus_STAGE_SUCCESS, 1)
	approved := w.events[len(w.events)-1]
	require.Equal(t, "ada, bob", approved.Approver)
	require.Equal(t, "WAIT_APPROVAL", approved.Stage.GetName())
	require.Positive(t, w.events[len(w.events)-2].Took)
	require.Equal(t, []string{
		"STAGE_STARTED", "DEPLOYMENT_WAIT_APPROVAL", "STAGE_STARTED", "STAGE_SUCCEEDED", "DEPLOYMENT_APPROVED",
	}, w.reported(),
		"a second attempt does not ask for the approval again")

	_, err = w.ReportDeploymentStatusChanged(
		ctx,
		&ps.ReportDeploymentStatusChangedRequest{
			DeploymentId: "d", Status: model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK, StatusReason: "why",
		},
	)
	require.NoError(t, err)
	w.commands = []*model.Command{
		{Type: model.Command_CANCEL_DEPLOYMENT, DeploymentId: "d", Commander: "ada"},
		{Type: model.Command_CANCEL_DEPLOYMENT, DeploymentId: "ended"},
	}
	_, err = w.ListUnhandledCommands(ctx, &ps.ListUnhandledCommandsRequest{})
	require.NoError(t, err)
	_, err = w.ReportDeploymentCompleted(
		ctx,
		&ps.ReportDeploymentCompletedRequest{DeploymentId: "d", Status: model.DeploymentStatus_DEPLOYMENT_CANCELLED},
	)
	require.NoError(t, err)
	require.Equal(t, "ada", w.events[1].Commander)
	require.Positive(t, w.events[1].Took)
	require.Equal(t, []string{"DEPLOYMENT_ROLLING_BACK", "DEPLOYMENT_CANCELLED"}, w.reported())
	require.Empty(t, w.deployments.byID, "an ended deployment is forgotten")
	require.Empty(t, w.deployments.order)
	w.deployments.add(&model.Deployment{Id: "d"})
	require.Empty(t, w.deployments.byID, "a late list does not bring it back")
}

func TestEveryEndOfAStageIsReported(t *testing.T) {
	t.Parallel()
	for s, want := range map[model.StageStatus]string{
		model.StageStatus_STAGE_SUCCESS: "STAGE_SUCCEEDED", model.StageStatus_STAGE_EXITED: "STAGE_SUCCEEDED",
		model.StageStatus_STAGE_FAILURE:   "STAGE_FAILED",
		model.StageStatus_STAGE_CANCELLED: "STAGE_CANCELLED", model.StageStatus_STAGE_SKIPPED: "STAGE_SKIPPED",
	} {
		w := newWorld(t)
		w.stage(t, s, 0)
		require.Zero(t, w.events[0].Took, "its start was not seen")
		require.Equal(t, []string{want}, w.reported())
	}
	w := newWorld(t)
	w.stage(t, model.StageStatus_STAGE_NOT_STARTED_YET, 0)
	require.Empty(t, w.reported())
}

func TestNothingIsShownThatWasNotReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applications = []*model.Application{{Id: "a", Name: "app"}}
	_, err := w.ListApplications(t.Context(), &ps.ListApplicationsRequest{})
	require.NoError(t, err)
	w.refuse = status.Error(codes.Unavailable, "away")
	require.Error(t, w.create(t, "d"))
	_, err = w.ReportDeploymentPlanned(t.Context(), &ps.ReportDeploymentPlannedRequest{DeploymentId: "d"})
	require.Error(t, err)
	_, err = w.ReportDeploymentStatusChanged(
		t.Context(),
		&ps.ReportDeploymentStatusChangedRequest{DeploymentId: "d", Status: model.DeploymentStatus_DEPLOYMENT_RUNNING},
	)
	require.Error(t, err)
	_, err = w.ReportStageStatusChanged(
		t.Context(),
		&ps.ReportStageStatusChangedRequest{DeploymentId: "d", StageId: "s", Status: model.StageStatus_STAGE_RUNNING},
	)
	require.Error(t, err)
	_, err = w.ReportDeploymentCompleted(t.Context(), &ps.ReportDeploymentCompletedRequest{DeploymentId: "d"})
	require.Error(t, err)
	require.Empty(t, w.reported())

	w.refuse = status.Error(codes.InvalidArgument, "no such thing")
	require.Error(t, w.create(t, "d"))
	require.Equal(t, "no such thing", w.events[0].Reason)
	require.Equal(t, "app", w.events[0].ApplicationName())
	require.Error(t, w.create(t, "d2"), "tried again for the same commit")
	require.Equal(t, []string{"DEPLOYMENT_TRIGGER_FAILED"}, w.reported())
}

func TestDriftAndHealthAreReportedWhenTheyChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applications = []*model.Application{{Id: "a", Name: "app", Labels: map[string]string{"env": "dev"}}}
	list := func() {
		_, err := w.ListApplications(t.Context(), &ps.ListApplicationsRequest{})
		require.NoError(t, err)
	}
	list()
	sync := func(s model.ApplicationSyncStatus) {
		_, err := w.ReportApplicationSyncState(
			t.Context(),
			&ps.ReportApplicationSyncStateRequest{ApplicationId: "a", State: &model.ApplicationSyncState{Status: s}},
		)
		require.NoError(t, err)
	}
	sync(model.ApplicationSyncStatus_SYNCED)
	require.Empty(t, w.reported(), "no one knew it otherwise")
	sync(model.ApplicationSyncStatus_OUT_OF_SYNC)
	list()
	sync(model.ApplicationSyncStatus_OUT_OF_SYNC)
	sync(model.ApplicationSyncStatus_DEPLOYING)
	sync(model.ApplicationSyncStatus_SYNCED)
	labels, supported := w.events[0].Labels()
	require.True(t, supported)
	require.Equal(t, map[string]string{"env": "dev"}, labels)
	require.Equal(t, []string{"APPLICATION_OUT_OF_SYNC", "APPLICATION_SYNCED"}, w.reported())

	health := func(s model.ApplicationLiveStateSnapshot_Status) {
		_, err := w.ReportApplicationLiveState(
			t.Context(),
			&ps.ReportApplicationLiveStateRequest{
				Snapshot: &model.ApplicationLiveStateSnapshot{ApplicationId: "a", HealthStatus: s},
			},
		)
		require.NoError(t, err)
	}
	for _, s := range []model.ApplicationLiveStateSnapshot_Status{
		model.ApplicationLiveStateSnapshot_HEALTHY, model.ApplicationLiveStateSnapshot_UNHEALTHY,
		model.ApplicationLiveStateSnapshot_UNHEALTHY,
		model.ApplicationLiveStateSnapshot_UNKNOWN, model.ApplicationLiveStateSnapshot_HEALTHY,
	} {
		health(s)
	}
	require.Equal(t, []string{"APPLICATION_UNHEALTHY", "APPLICATION_HEALTHY"}, w.reported())
}

func TestOnlySoManyDeploymentsAreRemembered(t *testing.T) {
	t.Parallel()
	var s deployments
	for i := range maxDeployments + 5 {
		s.get(time.Duration(i).String())
	}
	require.Len(t, s.byID, maxDeployments)
	require.Len(t, s.order, maxDeployments)
	require.NotContains(t, s.byID, time.Duration(0).String())
	for i := range maxEnded + 5 {
		s.end(time.Duration(i).String())
	}
	require.Len(t, s.ended, maxEnded)
}

func TestTypesBelongToPipeCDsGroups(t *testing.T) {
	t.Parallel()
	counts := map[Group]int{}
	for name, kind := range Types() {
		require.Equal(t, name, kind.String())
		counts[kind.Group()]++
	}
	require.Equal(
		t, map[Group]int{Deployments: 10, ApplicationSync: 2, ApplicationHealth: 2, Piped: 2, Stages: 5}, counts,
	)
	require.Equal(t, Stages, StageCancelled.Group())
}
