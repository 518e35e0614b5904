// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"context"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// Faults serves the FaultService of pipeds.
type Faults struct {
	agentv1.UnimplementedFaultServiceServer
	faults *store.Faults
}

var _ agentv1.FaultServiceServer = (*Faults)(nil)

// NewFaults returns the service on what users want of faults.
func NewFaults(faults *store.Faults) *Faults { return &Faults{faults: faults} }

// ReportFaults replaces the faults of the piped.
func (f *Faults) ReportFaults(ctx context.Context, r *agentv1.ReportFaultsRequest) (
	*agentv1.ReportFaultsResponse, error,
) {
	return reply(&agentv1.ReportFaultsResponse{}, f.faults.Report(auth.Piped(ctx), r))
}
