// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Opening says what is to be made reachable from this machine.
type Opening struct {
	ApplicationID, Name string
	// Target is the deploy target, and so the cluster, that it is reached in.
	Target string
	// Port is a name or number; empty is the service's first.
	Port string
}

// Opener makes a deployed application reachable and returns its address and what answers there.
// Its errors are written for users.
type Opener func(ctx context.Context, o Opening) (url, detail string, err error)

// OpenApplication implements deckv1.DeckServiceServer.
func (s *Server) OpenApplication(
	ctx context.Context, r *deckv1.OpenApplicationRequest,
) (*deckv1.OpenApplicationResponse, error) {
	a, err := s.store.Applications.Get(r.GetApplicationId())
	if err != nil {
		return nil, hint(err, "no application has the id %q; list them with `pipedeck apps`", r.GetApplicationId())
	}
	if s.opener == nil {
		return nil, status.Error(codes.FailedPrecondition, "this environment has no cluster to reach applications in")
	}
	target, err := chooseTarget(a.GetName(), targets(a.GetDeployTargetsByPlugin()), r.GetTarget())
	if err != nil {
		return nil, err
	}
	url, detail, err := s.opener(ctx, Opening{ApplicationID: a.GetId(), Name: a.GetName(), Target: target,
		Port: r.GetPort()})
	switch {
	case err == nil:
		return &deckv1.OpenApplicationResponse{Url: url, Detail: detail}, nil
	case ctx.Err() != nil:
		return nil, status.FromContextError(ctx.Err()).Err()
	default:
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
}

// chooseTarget takes the wanted one of an application's targets ("plugin/target"), or the first.
func chooseTarget(application string, all []string, wanted string) (string, error) {
	var names []string
	for _, t := range all {
		if _, name, ok := strings.Cut(t, "/"); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) == 0:
		return "", status.Errorf(codes.FailedPrecondition, "%s has no deploy target", application)
	case wanted == "":
		return names[0], nil
	case !slices.Contains(names, wanted):
		return "", status.Errorf(codes.FailedPrecondition, "%s is not deployed to %q; its targets are: %s", application,
			wanted, strings.Join(names, ", "))
	}
	return wanted, nil
}
