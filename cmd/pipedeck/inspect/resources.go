// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/state"
)

// maxResources bounds one report of live resources, in bytes.
const maxResources = 64 << 20

// readResources reads what lives of an application at this moment. It fails while no plugin has reported that: an empty
// tree would be a claim.
func readResources(ctx context.Context, s *session.Session, app *deckv1.Application) ([]state.TreeRow, error) {
	if app.GetResources() == nil {
		return nil, exit.With(exit.Failed, fmt.Errorf("the live resources of %s are not known: it was not deployed "+
			"yet, or its plugin has not reported live state", app.GetName()),
			"see pipedeck history "+s.State.ApplicationArgument(app)+" and pipedeck status")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.Deck.WatchResources(ctx, &deckv1.WatchResourcesRequest{ApplicationId: app.GetId()},
		grpc.MaxCallRecvMsgSize(maxResources))
	if err != nil {
		return nil, session.Unreachable(err)
	}
	var tree state.Tree
	for !tree.Known() {
		response, err := stream.Recv()
		if err != nil {
			return nil, session.Unreachable(err)
		}
		tree.Apply(response)
	}
	return tree.Rows(), nil
}

// warnOfProblem says on standard error what is wrong with the configuration of an application: it may be the reason for
// what the command shows.
func warnOfProblem(s *session.Session, app *deckv1.Application) {
	if p := s.State.ProblemOf(app.GetId()); p != nil {
		fmt.Fprintf(s.Err, "warning: %s\n", p.GetReason())
	}
}
