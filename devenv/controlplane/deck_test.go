// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestAWatcherSeesTheWholeStateAndThenEveryChange(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	p.server.SetComponent(&deckv1.Component{Name: "cluster", State: deckv1.Component_STATE_STARTING})
	newReplayer(t).play(p.pipedConn, recording(t, "a1"), nil)

	v := p.watch(t, true)
	require.Equal(t, "test", v.environment.GetName())
	require.Equal(t, deckv1.Component_STATE_STARTING, v.components["cluster"].GetState())
	require.Equal(t, "ws", v.applications[id("2")].GetName())
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, v.deployments[id("3")].GetStatus())
	require.Empty(t, v.logs, "logs of stages that have ended are fetched by WatchStageLog")

	p.server.SetComponent(&deckv1.Component{Name: "cluster", State: deckv1.Component_STATE_READY})
	p.server.SetEnvironment(&deckv1.Environment{Name: "renamed"})
	v.until(func() bool { return v.environment.GetName() == "renamed" })
	require.Equal(t, deckv1.Component_STATE_READY, v.components["cluster"].GetState())
}

func TestHealthComesFromTheLiveState(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	v := p.watch(t, false)
	report := func(state *model.ApplicationLiveState) {
		_, err := p.piped.ReportApplicationLiveState(testContext(t), &pipedservice.ReportApplicationLiveStateRequest{
			Snapshot: &model.ApplicationLiveStateSnapshot{
				ApplicationId: id("2"), PipedId: pipedID, ProjectId: project,
				Version: &model.ApplicationLiveStateVersion{Timestamp: 1}, ApplicationLiveState: state,
			},
		})
		require.NoError(t, err)
	}
	require.Equal(t, deckv1.HealthStatus_HEALTH_STATUS_UNKNOWN, v.applications[id("2")].GetHealth())
	report(&model.ApplicationLiveState{HealthStatus: model.ApplicationLiveState_HEALTHY})
	v.until(func() bool { return v.applications[id("2")].GetHealth() == deckv1.HealthStatus_HEALTH_STATUS_HEALTHY })
	report(&model.ApplicationLiveState{Resources: []*model.ResourceState{
		{Id: "r", Name: "r", HealthStatus: model.ResourceState_UNHEALTHY, CreatedAt: 1, UpdatedAt: 1},
	}})
	v.until(func() bool { return v.applications[id("2")].GetHealth() == deckv1.HealthStatus_HEALTH_STATUS_OTHER })
}

func TestResourcesAreSentOnceAndThenWhatChanges(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	v := p.watch(t, false)
	report := func(resources ...*model.ResourceState) {
		_, err := p.piped.ReportApplicationLiveState(testContext(t), &pipedservice.ReportApplicationLiveStateRequest{
			Snapshot: &model.ApplicationLiveStateSnapshot{
				ApplicationId: id("2"), PipedId: pipedID, ProjectId: project,
				Version:              &model.ApplicationLiveStateVersion{Timestamp: 1},
				ApplicationLiveState: &model.ApplicationLiveState{Resources: resources},
			},
		})
		require.NoError(t, err)
	}
	pod := func(name, drift string, health model.ResourceState_HealthStatus) *model.ResourceState {
		return &model.ResourceState{
			Id: name, Name: name, ParentIds: []string{"set"}, ResourceType: "Pod", HealthStatus: health,
			HealthDescription: "why", PluginName: "kubernetes",
			DeployTarget: "local", ResourceMetadata: map[string]string{"Namespace": "shop", "Drift": drift},
			CreatedAt: 1, UpdatedAt: time.Now().UnixNano(),
		}
	}
	stream, err := p.deck.WatchResources(testContext(t), &deckv1.WatchResourcesRequest{ApplicationId: id("2")})
	require.NoError(t, err)
	next := func() *deckv1.WatchResourcesResponse {
		t.Helper()
		response, err := stream.Recv()
		require.NoError(t, err)
		return response
	}
	first := next()
	require.True(t, first.GetComplete())
	require.Empty(t, first.GetResources())

	report(pod("a", "", model.ResourceState_HEALTHY), pod("b", "", model.ResourceState_HEALTHY))
	require.Len(t, next().GetResources(), 2)
	v.until(func() bool { return v.applications[id("2")].GetResources().GetTotal() == 2 })

	report(pod("a", "", model.ResourceState_HEALTHY), pod("b", "", model.ResourceState_HEALTHY)) // nothing new
	report(pod("b", "spec.x: 1 in Git, 2 live", model.ResourceState_UNHEALTHY),
		pod("c", "", model.ResourceState_UNKNOWN))
	change := next()
	require.Equal(t, []string{"a"}, change.GetRemoved())
	require.Len(t, change.GetResources(), 2)
	b := change.GetResources()[0]
	require.Equal(t, "Pod shop/b of kubernetes/local",
		fmt.Sprintf("%s %s/%s of %s", b.GetKind(), b.GetNamespace(), b.GetName(), b.GetDeployTarget()))
	require.Equal(t, deckv1.HealthStatus_HEALTH_STATUS_OTHER, b.GetHealth())
	require.Equal(t, "why", b.GetHealthReason())
	require.Equal(t, "spec.x: 1 in Git, 2 live", b.GetDrift())
	require.Equal(t, []string{"set"}, b.GetParentIds())
	v.until(func() bool {
		return proto.Equal(&deckv1.ResourceCounts{Total: 2, Unhealthy: 1, Unknown: 1, Drifted: 1},
			v.applications[id("2")].GetResources())
	})

	unknown, err := p.deck.WatchResources(testContext(t), &deckv1.WatchResourcesRequest{ApplicationId: id("9")})
	require.NoError(t, err)
	_, err = unknown.Recv()
	require.Equal(t, codes.NotFound, status.Code(err))
}

func TestTheFieldsOfADriftReachTheScreenWithTheirLiveState(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	ctx := testContext(t)
	_, err := p.agent.ReportDrift(ctx, &agentv1.ReportDriftRequest{
		ApplicationId: id("2"), Resources: []*livestate.ResourceDrift{{
			ResourceId: "r", MoreFields: 2, Refused: "immutable",
			Fields: []*livestate.FieldDrift{{Path: "spec.replicas", GitValue: "1", LiveValue: "2", AppliedValue: "3",
				Change: livestate.FieldDrift_CHANGE_BOTH, Writer: "kubectl"}},
		}},
	})
	require.NoError(t, err)
	_, err = p.piped.ReportApplicationLiveState(ctx, &pipedservice.ReportApplicationLiveStateRequest{
		Snapshot: &model.ApplicationLiveStateSnapshot{
			ApplicationId: id("2"), PipedId: pipedID, ProjectId: project,
			Version: &model.ApplicationLiveStateVersion{Timestamp: 1},
			ApplicationLiveState: &model.ApplicationLiveState{Resources: []*model.ResourceState{
				{Id: "r", Name: "r", CreatedAt: 1, UpdatedAt: 1},
			}},
		},
	})
	require.NoError(t, err)
	stream, err := p.deck.WatchResources(ctx, &deckv1.WatchResourcesRequest{ApplicationId: id("2")})
	require.NoError(t, err)
	response, err := stream.Recv()
	require.NoError(t, err)
	r := response.GetResources()[0]
	require.Equal(t, "3 fields not as in Git", r.GetDrift())
	require.Equal(t, "immutable", r.GetPutBackRefused())
	require.EqualValues(t, 2, r.GetMoreFields())
	require.True(t, proto.Equal(&deckv1.FieldDrift{Path: "spec.replicas", GitValue: "1", LiveValue: "2",
		AppliedValue: "3", Change: deckv1.FieldDrift_CHANGE_BOTH, Writer: "kubectl"}, r.GetFields()[0]))
}

func TestAWatcherThatReadsTooSlowlyStartsAgain(t *testing.T) {
	t.Parallel()
	p := start(t, func(c *controlplane.Config) { c.Limits = store.Limits{Watcher: store.Bounds{Items: 8}} })
	v := p.watch(t, false)
	// More than the transport and the queue hold together, read by no one.
	text := strings.Repeat("x", 64<<10)
	for i := range 200 {
		p.server.SetComponent(&deckv1.Component{Name: "c", Detail: fmt.Sprintf("%d %s", i, text)})
	}
	p.server.SetComponent(&deckv1.Component{Name: "last"})
	v.until(func() bool { return v.components["last"] != nil })
	require.Positive(t, v.resets)
	v.until(func() bool { return v.synced == v.resets+1 })
	require.True(t, strings.HasPrefix(v.components["c"].GetDetail(), "199 "), "the state after a reset is the newest")
}

func TestAStageLogIsFollowedFromTheStartToTheEnd(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	var log <-chan []string
	newReplayer(t).play(p.pipedConn, recording(t, "a1"), func(seq int) {
		switch seq {
		case 25:
			log = p.stageLog(t, id("3"), id("5"))
		case 27:
			require.Contains(t, <-log, "hello\n")
		}
	})
	require.Contains(t, <-p.stageLog(t, id("3"), id("5")), "hello\n", "it can be read again")
	stream, err := p.deck.WatchStageLog(testContext(t),
		&deckv1.WatchStageLogRequest{DeploymentId: id("3"), StageId: "nope"})
	require.NoError(t, err)
	_, err = stream.Recv()
	requireCode(t, codes.NotFound, err)
}

func TestALogEndsWithItsDeployment(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	var log <-chan []string
	newReplayer(t).play(p.pipedConn, recording(t, "a1")[:7], nil)
	log = p.stageLog(t, id("3"), id("5"))
	_, err := p.piped.ReportDeploymentCompleted(testContext(t), &pipedservice.ReportDeploymentCompletedRequest{
		DeploymentId: id("3"), Status: model.DeploymentStatus_DEPLOYMENT_CANCELLED, CompletedAt: 1,
	})
	require.NoError(t, err)
	require.Empty(t, <-log)
}

func TestLogBlocksCountOnceAndASealedLogTakesNoMore(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	newReplayer(t).play(p.pipedConn, recording(t, "a1")[:8], nil)
	ctx := testContext(t)
	block := func(index int64) *model.LogBlock {
		return &model.LogBlock{Index: index, Log: fmt.Sprintf("line %d", index), CreatedAt: 1}
	}
	logs := func(indexes ...int64) error {
		r := &pipedservice.ReportStageLogsRequest{DeploymentId: id("3"), StageId: id("4")}
		for _, i := range indexes {
			r.Blocks = append(r.Blocks, block(i))
		}
		_, err := p.piped.ReportStageLogs(ctx, r)
		return err
	}
	checkpoint := func(completed bool, indexes ...int64) error {
		r := &pipedservice.ReportStageLogsFromLastCheckpointRequest{DeploymentId: id("3"), StageId: id("4"),
			Completed: completed}
		for _, i := range indexes {
			r.Blocks = append(r.Blocks, block(i))
		}
		_, err := p.piped.ReportStageLogsFromLastCheckpoint(ctx, r)
		return err
	}
	require.NoError(t, logs(10, 11))
	require.NoError(t, logs(11, 12))
	require.NoError(t, checkpoint(false, 10, 11, 12, 13))
	require.NoError(t, checkpoint(true, 13, 14))
	require.NoError(t, checkpoint(true, 13, 14), "a repetition of the last report is no error")
	requireCode(t, codes.FailedPrecondition, logs(15))
	requireCode(t, codes.FailedPrecondition, checkpoint(false, 15))
	require.Equal(t, []string{"line 10", "line 11", "line 12", "line 13", "line 14"}, <-p.stageLog(t, id("3"), id("4")))
}

// PipeCD refuses a report beyond 4 MiB, and the stage loses its log.
func TestALogReportOfMoreThanFourMebibytesIsTaken(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	newReplayer(t).play(p.pipedConn, recording(t, "a1")[:8], nil)
	r := &pipedservice.ReportStageLogsFromLastCheckpointRequest{DeploymentId: id("3"), StageId: id("4"),
		Completed: true}
	for i := range int64(50_000) {
		r.Blocks = append(r.Blocks, &model.LogBlock{Index: i, Log: strings.Repeat("x", 120), CreatedAt: 1})
	}
	_, err := p.piped.ReportStageLogsFromLastCheckpoint(testContext(t), r)
	require.NoError(t, err)
	require.Len(t, <-p.stageLog(t, id("3"), id("4")), 50_000)
}

func TestAQuietEnvironmentSendsHeartbeatsToWhomAsksForThem(t *testing.T) {
	t.Parallel()
	p := start(t)
	stream, err := p.deck.Watch(testContext(t), &deckv1.WatchRequest{Heartbeat: durationpb.New(time.Nanosecond)})
	require.NoError(t, err)
	beats := 0
	for beats < 2 {
		response, err := stream.Recv()
		require.NoError(t, err)
		if len(response.GetEvents()) == 0 {
			beats++
		}
	}
	p.server.SetEnvironment(&deckv1.Environment{Name: "renamed"})
	for renamed := false; !renamed; {
		response, err := stream.Recv()
		require.NoError(t, err)
		for _, e := range response.GetEvents() {
			renamed = renamed || e.GetEnvironment().GetName() == "renamed"
		}
	}
}
