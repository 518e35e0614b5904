// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/trigger"
)

// removals is what the trigger needs to act on applications that are deleted in Git. supported reports whether the
// control plane is ours.
func (a *Agent) removals(
	client agentv1.AgentServiceClient, plans *planner.Planner, supported func() bool,
) trigger.Removals {
	return trigger.Removals{
		Default: a.options.Config.OnRemoved, Supported: supported, Refuse: plans.RefuseRemoval,
		Forget: func(ctx context.Context, application string) error {
			_, err := client.ForgetApplication(ctx, &agentv1.ForgetApplicationRequest{ApplicationId: application})
			if err != nil {
				return fmt.Errorf("forget application %s: %w", application, err)
			}
			return nil
		},
	}
}
