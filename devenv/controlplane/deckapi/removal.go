// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// RemoveApplication removes an application; where what it has deployed is deleted first, it waits for the answer of a
// piped that is connected.
func (s *Server) RemoveApplication(
	ctx context.Context, r *deckv1.RemoveApplicationRequest,
) (*deckv1.RemoveApplicationResponse, error) {
	a, err := s.store.Applications.Get(r.GetApplicationId())
	if err != nil {
		return nil, hint(err, "no application has the id %q; list them with `pipedeck apps`", r.GetApplicationId())
	}
	id, err := s.store.Remove(a.GetId(), r.GetDelete(), cmp.Or(r.GetCommander(), defaultCommander))
	if err != nil || id == "" {
		return &deckv1.RemoveApplicationResponse{}, err
	}
	answer := &deckv1.RemoveApplicationResponse{CommandId: id}
	if answer.Unanswered = s.unreachable(a.GetPipedId()); answer.Unanswered != "" {
		return answer, nil
	}
	answer.DeploymentId, err = s.created(ctx, id, syncWait)
	switch {
	case status.Code(err) == codes.FailedPrecondition:
		return nil, hint(err, "piped refuses to delete what %s has deployed: %s", a.GetName(),
			status.Convert(err).Message())
	case err != nil:
		return nil, err
	case answer.DeploymentId == "":
		answer.Unanswered = fmt.Sprintf("piped has not answered within %s", syncWait)
	}
	return answer, nil
}
