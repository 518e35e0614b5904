// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugincalls

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/piped/secrets"
)

func request(stage string) *deployment.ExecuteStageRequest {
	return &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment: &model.Deployment{Id: "d1"}, Stage: &model.PipelineStage{Id: stage, Name: strings.ToUpper(stage)},
		StageConfig:            []byte(`{"duration":"1s"}`),
		TargetDeploymentSource: &common.DeploymentSource{ApplicationConfig: []byte("kind: Application\n")},
	}}
}

// call makes one call of piped to a plugin.
func call(l *Log, plugin, method string, request, reply any, err error) {
	_ = l.Client(plugin, strings.Repeat("ab", 32))(context.Background(), method, request, reply, nil,
		func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return err })
}

func execute(l *Log, stage string, end model.StageStatus) {
	call(l, "wait", deployment.DeploymentService_ExecuteStage_FullMethodName, request(stage),
		&deployment.ExecuteStageResponse{Status: end}, nil)
}

// back makes one call of a plugin to piped.
func back(l *Log, plugin, method string, request any, reply any, err error) {
	_, _ = l.Unary(func(context.Context) string { return plugin })(context.Background(), request,
		&grpc.UnaryServerInfo{FullMethod: method}, func(context.Context, any) (any, error) { return reply, err })
}

// all returns every call.
func all(t *testing.T, l *Log, filter *agentv1.PluginCallFilter, messages bool) (list []*agentv1.PluginCall) {
	t.Helper()
	for version, more := uint64(0), true; more; {
		var part []*agentv1.PluginCall
		part, version, more = l.Select(filter, version, messages)
		list = append(list, part...)
	}
	return list
}

func TestCallsInBothDirectionsAreRemembered(t *testing.T) {
	t.Parallel()
	l := New(Options{})
	execute(l, "s1", model.StageStatus_STAGE_SUCCESS)
	execute(l, "s2", model.StageStatus_STAGE_FAILURE)
	back(l, "wait", pluginservice.PluginService_PutStageMetadata_FullMethodName,
		&pluginservice.PutStageMetadataRequest{DeploymentId: "d1", StageId: "s1", Key: "k", Value: "v"}, nil,
		status.Error(codes.ResourceExhausted, "too much"))

	calls := all(t, l, nil, true)
	require.Len(t, calls, 3)
	require.Equal(t, agentv1.PluginCall_DIRECTION_TO_PLUGIN, calls[0].GetDirection())
	require.Equal(t, []string{"wait", "abababababab", "d1", "s1", "S1", "OK", "SUCCESS"}, []string{calls[0].GetPlugin(),
		calls[0].GetBuild(), calls[0].GetDeploymentId(), calls[0].GetStageId(), calls[0].GetStageName(),
		calls[0].GetCode(), calls[0].GetDetail()})
	require.Positive(t, calls[0].GetDuration().AsDuration())
	require.Equal(t, int64(proto.Size(request("s1"))), calls[0].GetRequestBytes())
	require.Contains(t, calls[0].GetRequestJson(), "\"stageConfig\": {\n      \"duration\": \"1s\"\n    }")
	require.Contains(t, calls[0].GetRequestJson(), `"applicationConfig": "kind: Application\n"`)
	var kept deployment.ExecuteStageRequest
	require.NoError(t, proto.Unmarshal(calls[0].GetRequest(), &kept))
	require.True(t, proto.Equal(request("s1"), &kept))
	require.False(t, calls[0].GetFailed())
	require.True(t, calls[1].GetFailed(), "a stage that failed")
	require.Equal(t, agentv1.PluginCall_DIRECTION_TO_PIPED, calls[2].GetDirection())
	require.Equal(t, []string{"ResourceExhausted", "too much", ""},
		[]string{calls[2].GetCode(), calls[2].GetDetail(), calls[2].GetResponseJson()})
	require.True(t, calls[2].GetFailed())
	require.NotEqual(t, strings.Split(New(Options{}).id(&entry{}), "-")[0], "", "ids have the run")

	require.Equal(t, "S1", calls[2].GetStageName(), "as the call that has executed it")
	require.Len(t, all(t, l, &agentv1.PluginCallFilter{Stage: "S1"}, false), 2)
	for name, filter := range map[string]*agentv1.PluginCallFilter{
		"by id": {Id: calls[1].GetId()}, "by the id of a stage": {Stage: "s2"}, "by its name": {Stage: "S2"},
		"by all": {Plugin: "wait", DeploymentId: "d1", Stage: "s2", Failed: true},
	} {
		found := all(t, l, filter, false)
		require.Len(t, found, 1, name)
		require.Equal(t, calls[1].GetId(), found[0].GetId(), name)
		require.Empty(t, found[0].GetRequestJson())
	}
	require.Len(t, all(t, l, &agentv1.PluginCallFilter{Failed: true}, false), 2)
	require.Empty(t, all(t, l, &agentv1.PluginCallFilter{Plugin: "other"}, false))
}

func TestACallOverLoopbackIsThatOfThePluginThatExecutesItsStage(t *testing.T) {
	t.Parallel()
	l := New(Options{})
	report := &pluginservice.ReportStageLogsRequest{DeploymentId: "d1", StageId: "s1"}
	_ = l.Client("python", "")(t.Context(), deployment.DeploymentService_ExecuteStage_FullMethodName, request("s1"),
		&deployment.ExecuteStageResponse{}, nil,
		func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			running := all(t, l, nil, false)
			require.Len(t, running, 1)
			require.Nil(t, running[0].GetDuration(), "it runs")
			require.Empty(t, running[0].GetCode())
			back(l, "", pluginservice.PluginService_ReportStageLogs_FullMethodName, report, nil, nil)
			return nil
		})
	back(l, "", pluginservice.PluginService_ReportStageLogs_FullMethodName, report, nil, nil)
	calls := all(t, l, nil, false)
	require.Len(t, calls, 3)
	require.Equal(t, []string{"python", "python", ""},
		[]string{calls[0].GetPlugin(), calls[1].GetPlugin(), calls[2].GetPlugin()})
}

func TestSecretsAreNeitherKeptNorShown(t *testing.T) {
	t.Parallel()
	masker := secrets.NewMasker()
	require.NoError(t, masker.Add("hunter2-hunter2"))
	l := New(Options{Mask: masker.Mask})
	secret := request("s1")
	secret.Input.StageConfig = []byte(`{"password":"hunter2-hunter2","url":"https://me:pass@example.com/"}`)
	call(l, "wait", deployment.DeploymentService_ExecuteStage_FullMethodName, secret, nil,
		errors.New("no hunter2-hunter2"))
	for _, kept := range l.plugins["wait"][ofDeployments].entries {
		require.NotContains(t, string(kept.request.data), "hunter2")
		require.NotContains(t, kept.detail, "hunter2")
	}
	shown := all(t, l, nil, true)[0]
	require.Contains(t, shown.GetRequestJson(), `"password": "******"`)
	require.Contains(t, shown.GetRequestJson(), `"url": "https://me:******@example.com/"`)
	require.NotContains(t, string(shown.GetRequest()), "me:pass@")
	require.Contains(t, string(secret.GetInput().GetStageConfig()), "hunter2-hunter2", "the call itself is untouched")
}

func TestALongMessageIsClippedWithAMark(t *testing.T) {
	t.Parallel()
	l := New(Options{})
	long := &pluginservice.ReportStageLogsRequest{DeploymentId: "d1", StageId: "s1"}
	for range 100 {
		long.Blocks = append(long.Blocks, &model.LogBlock{Log: strings.Repeat("ä", 1<<10)})
	}
	back(l, "wait", pluginservice.PluginService_ReportStageLogs_FullMethodName, long, nil, nil)
	shown := all(t, l, nil, true)[0]
	require.True(t, shown.GetRequestClipped())
	require.Equal(t, int64(proto.Size(long)), shown.GetRequestBytes())
	require.Less(t, len(shown.GetRequest()), 2*clippedSize)
	require.Contains(t, shown.GetRequestJson(), "ä… (2048 bytes in all)")
	require.Equal(t, "s1", shown.GetStageId())
}

func TestTheLogIsBoundedAndKeepsWhatRuns(t *testing.T) {
	t.Parallel()
	l := New(Options{Plugins: 3})
	release := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		_ = l.Client("wait", "")(context.Background(), deployment.DeploymentService_ExecuteStage_FullMethodName,
			request("first"), &deployment.ExecuteStageResponse{}, nil,
			func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
				<-release
				return nil
			})
	})
	require.NoError(t, l.Await(t.Context(), 0))
	for i := range 3 * laneEntries[ofDeployments] {
		report := &pluginservice.ReportStageLogsRequest{
			DeploymentId: "d1", StageId: fmt.Sprint(i), Blocks: []*model.LogBlock{{Log: strings.Repeat("x", 20<<10)}},
		}
		back(l, "wait", pluginservice.PluginService_ReportStageLogs_FullMethodName, report, nil, nil)
		call(l, "wait", "/grpc.health.v1.Health/Check", nil, nil, nil)
	}
	call(l, "wait", livestate.LivestateService_GetLivestate_FullMethodName, &livestate.GetLivestateRequest{}, nil, nil)
	for kind := range l.plugins["wait"] {
		lane, sum := &l.plugins["wait"][kind], 0
		require.LessOrEqual(t, len(lane.entries), laneEntries[kind])
		for _, e := range lane.entries {
			sum += e.bytes()
		}
		require.Equal(t, sum, lane.bytes)
		require.LessOrEqual(t, sum, maxPluginBytes*laneShare[kind]/16)
	}
	require.Greater(t, l.plugins["wait"][ofDeployments].bytes, maxPluginBytes/2, "the room is used")
	require.Len(t, all(t, l, &agentv1.PluginCallFilter{Stage: "first"}, false), 1, "it runs")
	require.Len(t, l.plugins["wait"][ofOthers].entries, 1, "checks of health push nothing out")
	close(release)
	running.Wait()
	require.Equal(t, "OK", all(t, l, &agentv1.PluginCallFilter{Stage: "first"}, false)[0].GetCode())
}

func TestCallsThatRunLoseTheirMessagesWhereTheyAreTooMany(t *testing.T) {
	t.Parallel()
	l := New(Options{Plugins: 3})
	for i := range 100 {
		long := request(fmt.Sprint("s", i))
		long.Input.StageConfig = make([]byte, 60<<10)
		e := &entry{caller: caller{plugin: "wait"}, method: deployment.DeploymentService_ExecuteStage_FullMethodName}
		l.start(e, long)
	}
	lane := l.plugins["wait"][ofDeployments]
	require.Len(t, lane.entries, 100)
	require.LessOrEqual(t, lane.bytes, maxPluginBytes*laneShare[ofDeployments]/16)
	require.True(t, all(t, l, &agentv1.PluginCallFilter{Stage: "s0"}, true)[0].GetRequestClipped())
}

func TestAFollowerSeesTheBeginAndTheEndOfACall(t *testing.T) {
	t.Parallel()
	l := New(Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	seen := make(chan *agentv1.PluginCall)
	go func() {
		defer close(seen)
		for version := uint64(0); l.Await(ctx, version) == nil; {
			var calls []*agentv1.PluginCall
			calls, version, _ = l.Select(nil, version, false)
			for _, c := range calls {
				seen <- c
			}
		}
	}()
	_ = l.Client("wait", "")(ctx, deployment.DeploymentService_ExecuteStage_FullMethodName, request("s1"),
		&deployment.ExecuteStageResponse{Status: model.StageStatus_STAGE_SUCCESS}, nil,
		func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			require.Empty(t, (<-seen).GetCode())
			return nil
		})
	require.Equal(t, "SUCCESS", (<-seen).GetDetail())
	cancel()
	for range seen { // until it has ended
	}
}

func TestTheCallsOfARerunAreMarked(t *testing.T) {
	t.Parallel()
	l := New(Options{Plugins: 1})
	execute(l, "s", model.StageStatus_STAGE_SUCCESS)
	var build string
	ctx := WithRerun(context.Background(), func(_, of string) { build = of })
	err := l.Client("wait", strings.Repeat("ab", 32))(ctx, deployment.DeploymentService_ExecuteStage_FullMethodName,
		request("s"), &deployment.ExecuteStageResponse{}, nil,
		func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			back(l, "wait", pluginservice.PluginService_GetDeploymentPluginMetadata_FullMethodName,
				&pluginservice.GetDeploymentPluginMetadataRequest{DeploymentId: "d1"}, nil, nil)
			back(l, "wait", pluginservice.PluginService_GetDeploymentPluginMetadata_FullMethodName,
				&pluginservice.GetDeploymentPluginMetadataRequest{DeploymentId: "d2"}, nil, nil)
			return nil
		})
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("ab", 6), build)
	// A plugin makes its last calls after a stage that was cancelled.
	back(l, "wait", pluginservice.PluginService_GetDeploymentPluginMetadata_FullMethodName,
		&pluginservice.GetDeploymentPluginMetadataRequest{DeploymentId: "d1"}, nil, nil)
	execute(l, "s", model.StageStatus_STAGE_SUCCESS)
	marked := map[string]bool{}
	for _, c := range all(t, l, nil, false) {
		marked[c.GetId()[strings.Index(c.GetId(), "-")+1:]] = c.GetRerun()
	}
	require.Equal(t, map[string]bool{"1": false, "2": true, "3": true, "4": false, "5": true, "6": false}, marked)
}
