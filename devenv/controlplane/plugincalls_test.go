// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// asked connects a piped that answers questions about calls, and returns the next question.
func (p *plane) asked(t *testing.T) func() *agentv1.PluginCallQuestion {
	t.Helper()
	watch, err := p.agent.Watch(testContext(t), &agentv1.WatchRequest{AnswersPluginCalls: true})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	return func() *agentv1.PluginCallQuestion {
		for {
			change, err := watch.Recv()
			require.NoError(t, err)
			if len(change.GetPluginCalls()) > 0 {
				return change.GetPluginCalls()[0]
			}
		}
	}
}

func TestTheCallsOfPluginsComeFromTheirPiped(t *testing.T) {
	t.Parallel()
	p := start(t)
	user, piped := deckv1.NewPluginCallServiceClient(p.userConn), agentv1.NewPluginCallServiceClient(p.pipedConn)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	none, err := user.ListPluginCalls(ctx, &deckv1.ListPluginCallsRequest{})
	require.NoError(t, err)
	_, err = none.Recv()
	requireCode(t, codes.FailedPrecondition, err)
	question := p.asked(t)

	list, err := user.ListPluginCalls(ctx, &deckv1.ListPluginCallsRequest{
		Filter: &deckv1.PluginCallFilter{Plugin: "wait"}, Messages: true})
	require.NoError(t, err)
	asked := question()
	require.Equal(t, "wait", asked.GetFilter().GetPlugin())
	require.True(t, asked.GetMessages())
	answer, err := piped.AnswerPluginCalls(ctx)
	require.NoError(t, err)
	for _, id := range []string{"ab-1", "ab-2"} {
		require.NoError(t, answer.Send(&agentv1.AnswerPluginCallsRequest{Question: asked.GetId(),
			Calls: []*agentv1.PluginCall{{Id: id}}}))
		got, err := list.Recv()
		require.NoError(t, err)
		require.Equal(t, id, got.GetCalls()[0].GetId())
		require.Equal(t, pipedID, got.GetCalls()[0].GetPipedId())
	}
	_, err = answer.CloseAndRecv()
	require.NoError(t, err)
	_, err = list.Recv()
	require.ErrorIs(t, err, io.EOF)

	late, err := piped.AnswerPluginCalls(ctx)
	require.NoError(t, err)
	require.NoError(t, late.Send(&agentv1.AnswerPluginCallsRequest{Question: asked.GetId()}))
	_, err = late.CloseAndRecv()
	requireCode(t, codes.NotFound, err)
}

func TestAnAnswerEndsWithTheFollowerWhoAsked(t *testing.T) {
	t.Parallel()
	p := start(t)
	user, piped := deckv1.NewPluginCallServiceClient(p.userConn), agentv1.NewPluginCallServiceClient(p.pipedConn)
	question := p.asked(t)
	following, leave := context.WithCancel(testContext(t))
	list, err := user.ListPluginCalls(following, &deckv1.ListPluginCallsRequest{Follow: true})
	require.NoError(t, err)
	asked := question()
	answer, err := piped.AnswerPluginCalls(testContext(t))
	require.NoError(t, err)
	require.NoError(t, answer.Send(&agentv1.AnswerPluginCallsRequest{Question: asked.GetId(),
		Calls: []*agentv1.PluginCall{{Id: "ab-1"}}}))
	_, err = list.Recv()
	require.NoError(t, err)
	leave()
	require.NoError(t, answer.RecvMsg(&agentv1.AnswerPluginCallsResponse{}), "the control plane ends the call")

	// The other way round, the follower hears that piped is gone.
	list, err = user.ListPluginCalls(testContext(t), &deckv1.ListPluginCallsRequest{Follow: true})
	require.NoError(t, err)
	asked = question()
	gone, end := context.WithCancel(testContext(t))
	answer, err = piped.AnswerPluginCalls(gone)
	require.NoError(t, err)
	require.NoError(t, answer.Send(&agentv1.AnswerPluginCallsRequest{Question: asked.GetId()}))
	_, err = list.Recv()
	require.NoError(t, err)
	end()
	_, err = list.Recv()
	require.ErrorIs(t, err, io.EOF)
}

func TestOnlyThePipedThatWasAskedAnswers(t *testing.T) {
	t.Parallel()
	p := start(t)
	_, err := agentv1.NewPluginCallServiceClient(p.userConn).AnswerPluginCalls(testContext(t))
	if err == nil {
		stream, _ := agentv1.NewPluginCallServiceClient(p.userConn).AnswerPluginCalls(testContext(t))
		_, err = stream.CloseAndRecv()
	}
	requireCode(t, codes.Unauthenticated, err)
	stream, err := deckv1.NewPluginCallServiceClient(p.pipedConn).ListPluginCalls(testContext(t),
		&deckv1.ListPluginCallsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	requireCode(t, codes.Unauthenticated, err)
}

func TestTheRunOfAStageHasItsCalls(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{Name: "WAIT"})
	question := p.asked(t)
	run, err := p.deck.GetStageRun(testContext(t),
		&deckv1.GetStageRunRequest{DeploymentId: "d", StageId: "s", WithoutCalls: true})
	require.NoError(t, err)
	require.Empty(t, run.GetCalls())
	got := make(chan *deckv1.GetStageRunResponse, 1)
	go func() {
		run, err := p.deck.GetStageRun(testContext(t), &deckv1.GetStageRunRequest{DeploymentId: "d", StageId: "s"})
		if err != nil {
			t.Error(err)
		}
		got <- run
	}()
	asked := question()
	require.Equal(t, "s", asked.GetFilter().GetStage())
	require.False(t, asked.GetMessages())
	answer, err := agentv1.NewPluginCallServiceClient(p.pipedConn).AnswerPluginCalls(testContext(t))
	require.NoError(t, err)
	later, earlier := timestamppb.New(time.Unix(20, 0)), timestamppb.New(time.Unix(10, 0))
	require.NoError(t, answer.Send(&agentv1.AnswerPluginCallsRequest{Question: asked.GetId(),
		Calls: []*agentv1.PluginCall{{Id: "ab-2", StartedAt: later}, {Id: "ab-1", StartedAt: earlier}}}))
	_, err = answer.CloseAndRecv()
	require.NoError(t, err)
	run = <-got
	require.Len(t, run.GetCalls(), 2)
	require.Equal(t, "ab-1", run.GetCalls()[0].GetId(), "in the order in which they began")
}
