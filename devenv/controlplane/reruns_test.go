// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// reruns connects a piped that re-runs stages, and returns the next one that is wanted.
func (p *plane) reruns(t *testing.T, able bool) func() *agentv1.StageRerun {
	t.Helper()
	watch, err := p.agent.Watch(testContext(t), &agentv1.WatchRequest{RerunsStages: able})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	return func() *agentv1.StageRerun {
		for {
			change, err := watch.Recv()
			require.NoError(t, err)
			if len(change.GetStageReruns()) > 0 {
				return change.GetStageReruns()[0]
			}
		}
	}
}

// wantRerun asks for the stage of runStage.
func (p *plane) wantRerun(ctx context.Context, t *testing.T) grpc.ServerStreamingClient[deckv1.RerunStageResponse] {
	t.Helper()
	stream, err := deckv1.NewPluginDevelopmentServiceClient(p.userConn).RerunStage(ctx,
		&deckv1.RerunStageRequest{DeploymentId: "d", StageId: "s"})
	require.NoError(t, err)
	return stream
}

func TestARerunGoesToItsPipedAndBack(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{Name: "GREET"})
	piped := agentv1.NewStageRerunServiceClient(p.pipedConn)
	user := p.wantRerun(testContext(t), t) // it waits for piped
	wanted := p.reruns(t, true)()
	require.Equal(t, []string{"d", "s"}, []string{wanted.GetDeploymentId(), wanted.GetStageId()})
	report, err := piped.ReportStageRerun(testContext(t))
	require.NoError(t, err)
	for _, message := range []*agentv1.ReportStageRerunRequest{
		{},
		{Kind: &agentv1.ReportStageRerunRequest_Began{Began: &agentv1.StageRerunBegan{Plugin: "greeter", Build: "ab"}}},
		{Kind: &agentv1.ReportStageRerunRequest_Log{Log: &agentv1.StageRerunLog{Blocks: []*model.LogBlock{
			{Index: 1, Log: "one", CreatedAt: 1}, {Index: 2, Log: "two", CreatedAt: 1}}}}},
		{Kind: &agentv1.ReportStageRerunRequest_Result{Result: &agentv1.StageRerunResult{
			Status: model.StageStatus_STAGE_FAILURE, Reason: "why", Duration: durationpb.New(1), Forgotten: 2}}},
	} {
		message.Rerun = wanted.GetId()
		require.NoError(t, report.Send(message))
	}
	_, err = report.CloseAndRecv()
	require.NoError(t, err)
	var got []*deckv1.RerunStageResponse
	for {
		response, err := user.Recv()
		if err == io.EOF { //nolint:errorlint // gRPC returns it as it is
			break
		}
		require.NoError(t, err)
		got = append(got, response)
	}
	require.Len(t, got, 4)
	require.Equal(t, "greeter", got[0].GetBegan().GetPlugin())
	require.Equal(t, []string{"one", "two"}, []string{got[1].GetLog().GetText(), got[2].GetLog().GetText()})
	require.Equal(t, deckv1.StageStatus_STAGE_STATUS_FAILURE, got[3].GetResult().GetStatus())
	require.EqualValues(t, 2, got[3].GetResult().GetForgotten())

	late, err := piped.ReportStageRerun(testContext(t))
	require.NoError(t, err)
	require.NoError(t, late.Send(&agentv1.ReportStageRerunRequest{Rerun: wanted.GetId()}))
	_, err = late.CloseAndRecv()
	requireCode(t, codes.NotFound, err)
}

func TestARerunEndsWithItsUserAndWithItsPiped(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{Name: "GREET"})
	piped, next := agentv1.NewStageRerunServiceClient(p.pipedConn), p.reruns(t, true)
	waiting, leave := context.WithCancel(testContext(t))
	user := p.wantRerun(waiting, t)
	wanted := next()
	report, err := piped.ReportStageRerun(testContext(t))
	require.NoError(t, err)
	began := &agentv1.ReportStageRerunRequest_Began{Began: &agentv1.StageRerunBegan{}}
	require.NoError(t, report.Send(&agentv1.ReportStageRerunRequest{Rerun: wanted.GetId(), Kind: began}))
	_, err = user.Recv()
	require.NoError(t, err)
	leave()
	require.NoError(t, report.RecvMsg(&agentv1.ReportStageRerunResponse{}), "the control plane ends the call")

	user = p.wantRerun(testContext(t), t)
	wanted = next()
	gone, end := context.WithCancel(testContext(t))
	report, err = piped.ReportStageRerun(gone)
	require.NoError(t, err)
	require.NoError(t, report.Send(&agentv1.ReportStageRerunRequest{Rerun: wanted.GetId(), Kind: began}))
	_, err = user.Recv()
	require.NoError(t, err)
	end()
	_, err = user.Recv()
	require.ErrorContains(t, err, "piped has ended, and with it the re-run; ")

	user = p.wantRerun(testContext(t), t)
	report, err = piped.ReportStageRerun(testContext(t))
	require.NoError(t, err)
	require.NoError(t, report.Send(&agentv1.ReportStageRerunRequest{Rerun: next().GetId(),
		Kind: &agentv1.ReportStageRerunRequest_Refusal{Refusal: "not now; later"}}))
	_, err = user.Recv()
	require.Equal(t, "not now; later", status.Convert(err).Message())
	requireCode(t, codes.FailedPrecondition, err)
}

func TestAPipedThatCannotRerunStagesIsNotAsked(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{Name: "GREET"})
	p.reruns(t, false)
	_, err := p.wantRerun(testContext(t), t).Recv()
	require.ErrorContains(t, err, "this piped cannot re-run stages; ")
	stream, err := deckv1.NewPluginDevelopmentServiceClient(p.userConn).DevelopPlugin(testContext(t),
		&deckv1.DevelopPluginRequest{Name: "greeter", Directory: "/tmp"})
	require.NoError(t, err)
	_, err = stream.Recv()
	requireCode(t, codes.Unimplemented, err)
}
