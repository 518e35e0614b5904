// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// Faults serves the FaultService of users.
type Faults struct {
	deckv1.UnimplementedFaultServiceServer
	store *store.Store
}

var _ deckv1.FaultServiceServer = (*Faults)(nil)

// NewFaults returns the service on the faults of pipeds.
func NewFaults(s *store.Store) *Faults { return &Faults{store: s} }

// AddFault gives a rule to the piped of an application, or to all.
func (f *Faults) AddFault(ctx context.Context, r *deckv1.AddFaultRequest) (*deckv1.AddFaultResponse, error) {
	if r.GetRule() == "" {
		return nil, status.Error(codes.InvalidArgument, "a rule is missing, such as WAIT: delay 5s")
	}
	pipeds, err := f.takers(r.GetApplicationId())
	if err != nil {
		return nil, err
	}
	faults, err := f.order(ctx, pipeds, &agentv1.FaultOrder{Rule: r.GetRule(), ApplicationId: r.GetApplicationId()})
	return &deckv1.AddFaultResponse{Faults: faults}, err
}

// ListFaults returns what the pipeds have reported.
func (f *Faults) ListFaults(context.Context, *deckv1.ListFaultsRequest) (*deckv1.ListFaultsResponse, error) {
	list := &deckv1.ListFaultsResponse{}
	for _, piped := range f.store.Faults.List() {
		list.Faults = append(list.Faults, faultsOf(piped.ID, piped.Faults)...)
	}
	return list, nil
}

// ClearFaults removes rules at all pipeds.
func (f *Faults) ClearFaults(ctx context.Context, r *deckv1.ClearFaultsRequest) (*deckv1.ClearFaultsResponse, error) {
	pipeds, err := f.takers("")
	if err != nil {
		return nil, err
	}
	faults, err := f.order(ctx, pipeds, &agentv1.FaultOrder{Remove: r.GetIds()})
	return &deckv1.ClearFaultsResponse{Faults: faults}, err
}

// takers are the pipeds that get an order about the stages of an application; empty is all.
func (f *Faults) takers(applicationID string) ([]string, error) {
	pipeds, err := f.store.Faults.Takers()
	if err != nil || applicationID == "" {
		return pipeds, err
	}
	application, err := f.store.Applications.Get(applicationID)
	if err != nil {
		return nil, err
	}
	return []string{application.GetPipedId()}, nil
}

// order gives an order to each of the pipeds. The answer is that of those before the first error, too.
func (f *Faults) order(ctx context.Context, pipeds []string, order *agentv1.FaultOrder) (all []*deckv1.Fault,
	err error) {
	for _, id := range pipeds {
		faults, err := f.store.Faults.Order(ctx, id, order)
		if err != nil {
			return all, err
		}
		all = append(all, faultsOf(id, faults)...)
	}
	return all, nil
}

// faultsOf are faults of a piped as users see them.
func faultsOf(pipedID string, faults []*agentv1.Fault) []*deckv1.Fault {
	all := make([]*deckv1.Fault, 0, len(faults))
	for _, f := range faults {
		all = append(all, &deckv1.Fault{Id: f.GetId(), Rule: f.GetRule(), Stage: f.GetStage(),
			ApplicationId: f.GetApplicationId(), PipedId: pipedID})
	}
	return all
}
