// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"context"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
)

// ForgetApplication removes an application that its piped does not find in Git any more.
func (a *Agent) ForgetApplication(
	ctx context.Context, r *agentv1.ForgetApplicationRequest,
) (*agentv1.ForgetApplicationResponse, error) {
	return &agentv1.ForgetApplicationResponse{}, a.store.Forget(auth.Piped(ctx), r.GetApplicationId())
}
