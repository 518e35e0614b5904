// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// SyncApplication asks piped for a deployment of the newest commit, and waits for the answer of a piped that is
// connected.
func (s *Server) SyncApplication(
	ctx context.Context, r *deckv1.SyncApplicationRequest,
) (*deckv1.SyncApplicationResponse, error) {
	a, err := s.asked(ctx, syncRequest{
		application: r.GetApplicationId(), strategy: r.GetStrategy(), commander: defaultCommander,
		next: "correct that in its repository, then run: pipedeck sync %s",
	})
	if err != nil {
		return nil, err
	}
	return &deckv1.SyncApplicationResponse{
		CommandId: a.command, DeploymentId: a.deployment, Unanswered: a.unanswered,
	}, nil
}

// commitHash is the hash of a commit or the beginning of one, of at least the length that Git takes.
var commitHash = regexp.MustCompile(`^[0-9a-fA-F]{4,40}$`)

// SyncCommit asks piped for a deployment of a commit in the history of the branch, and waits for the answer as
// SyncApplication does.
func (s *Server) SyncCommit(ctx context.Context, r *deckv1.SyncCommitRequest) (*deckv1.SyncCommitResponse, error) {
	if !commitHash.MatchString(r.GetCommit()) {
		return nil, status.Errorf(codes.InvalidArgument,
			"commit %.80q is not a hash; write 4 to 40 digits of it, as git log prints them", r.GetCommit())
	}
	a, err := s.asked(ctx, syncRequest{
		application: r.GetApplicationId(), commit: r.GetCommit(), strategy: r.GetStrategy(),
		commander: cmp.Or(r.GetCommander(), defaultCommander),
		next:      "list the commits with git log, then run: pipedeck sync %s --commit SHA",
	})
	if err != nil {
		return nil, err
	}
	return &deckv1.SyncCommitResponse{CommandId: a.command, DeploymentId: a.deployment, Unanswered: a.unanswered}, nil
}

// syncRequest is what a user asks piped to deploy.
type syncRequest struct {
	application, commit, strategy, commander string
	// next is the next step when piped refuses, with %s for the name of the application.
	next string
}

// syncAnswer is the answer of piped, or why there is none yet.
type syncAnswer struct{ command, deployment, unanswered string }

// asked asks piped for a deployment and waits for the answer.
func (s *Server) asked(ctx context.Context, r syncRequest) (syncAnswer, error) {
	strategy, err := strategyOf(r.strategy)
	if err != nil {
		return syncAnswer{}, err
	}
	a, err := s.store.Applications.Get(r.application)
	if err != nil {
		return syncAnswer{}, hint(err, "no application has the id %q; list them with `pipedeck apps`", r.application)
	}
	id, err := s.store.Sync(a, r.commit, r.commander, strategy)
	if err != nil {
		return syncAnswer{}, err
	}
	answer := syncAnswer{command: id}
	if answer.unanswered = s.unreachable(a.GetPipedId()); answer.unanswered != "" {
		return answer, nil
	}
	answer.deployment, err = s.created(ctx, id, syncWait)
	if err != nil {
		return syncAnswer{}, hint(err, "piped refuses to deploy %s: %s; "+r.next, a.GetName(),
			status.Convert(err).Message(), a.GetName())
	}
	if answer.deployment == "" {
		answer.unanswered = fmt.Sprintf("piped has not answered within %s", syncWait)
	}
	return answer, nil
}

// unreachable is why a piped does not answer a command now; empty when it should.
func (s *Server) unreachable(pipedID string) string {
	piped, err := s.store.Pipeds.Get(pipedID)
	if err != nil || piped.GetStatus() != model.Piped_ONLINE {
		return "piped is not connected; it deploys once it is"
	}
	return ""
}
