// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestFaultsArePassedOnToTheirPipedAndListed(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	user, piped := deckv1.NewFaultServiceClient(p.userConn), agentv1.NewFaultServiceClient(p.pipedConn)
	_, err := user.AddFault(ctx, &deckv1.AddFaultRequest{Rule: "WAIT: hang"})
	requireCode(t, codes.FailedPrecondition, err)

	watch, err := p.agent.Watch(ctx, &agentv1.WatchRequest{TakesFaults: true})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() { // the piped: it refuses the second rule
		defer close(ended)
		for {
			change, err := watch.Recv()
			if err != nil {
				return
			}
			for _, order := range change.GetFaults() {
				report := &agentv1.ReportFaultsRequest{Answers: []*agentv1.FaultAnswer{{Order: order.GetId()}}}
				fault := &agentv1.Fault{Id: "ab-1", Rule: order.GetRule(), Stage: "WAIT"}
				switch order.GetRule() {
				case "":
					report.Answers[0].Faults = []*agentv1.Fault{{Id: order.GetRemove()[0], Rule: "WAIT: hang"}}
				case "WAIT: hang":
					report.Faults = []*agentv1.Fault{fault}
					report.Answers[0].Faults = report.Faults
				default:
					report.Faults = []*agentv1.Fault{{Id: "ab-1", Rule: "WAIT: hang", Stage: "WAIT"}}
					report.Answers[0].Problem = "column 7: no"
				}
				_, _ = piped.ReportFaults(ctx, report)
			}
		}
	}()
	added, err := user.AddFault(ctx, &deckv1.AddFaultRequest{Rule: "WAIT: hang"})
	require.NoError(t, err)
	require.Equal(t, pipedID, added.GetFaults()[0].GetPipedId())
	_, err = user.AddFault(ctx, &deckv1.AddFaultRequest{Rule: "WAIT: kil"})
	requireCode(t, codes.InvalidArgument, err)
	require.ErrorContains(t, err, "column 7: no")
	_, err = user.AddFault(ctx, &deckv1.AddFaultRequest{})
	requireCode(t, codes.InvalidArgument, err)
	list, err := user.ListFaults(ctx, &deckv1.ListFaultsRequest{})
	require.NoError(t, err)
	require.Equal(t, "WAIT: hang", list.GetFaults()[0].GetRule())
	cleared, err := user.ClearFaults(ctx, &deckv1.ClearFaultsRequest{Ids: []string{"ab-1"}})
	require.NoError(t, err)
	require.Equal(t, "ab-1", cleared.GetFaults()[0].GetId())
	list, err = user.ListFaults(ctx, &deckv1.ListFaultsRequest{})
	require.NoError(t, err)
	require.Empty(t, list.GetFaults())
	cancel()
	<-ended
}
