// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"strings"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/trigger"
)

// removals is what the trigger needs to act on applications that are deleted in Git. supported reports whether the
// control plane is ours.
func (a *Agent) removals(client agentv1.AgentServiceClient, supported func() bool) trigger.Removals {
	return trigger.Removals{
		Default: a.options.Config.OnRemoved, Supported: supported, Refuse: a.unremovable,
		Forget: func(ctx context.Context, application string) error {
			_, err := client.ForgetApplication(ctx, &agentv1.ForgetApplicationRequest{ApplicationId: application})
			if err != nil {
				return fmt.Errorf("forget application %s: %w", application, err)
			}
			return nil
		},
	}
}

// unremovable says why none of the plugins of an application can delete what it has deployed; empty when one can, or
// while a plugin still starts. The planner inspects each of them.
func (a *Agent) unremovable(application *config.Application) string {
	names, known := a.uses(application)
	if !known {
		return ""
	}
	ended, end := context.WithCancel(context.Background())
	end()
	plugins, err := a.plugins.Named(ended, names...)
	if err != nil {
		return ""
	}
	for _, plugin := range plugins {
		if plugin.RemovalStage() != "" {
			return ""
		}
	}
	return fmt.Sprintf("none of its plugins, %s, has a stage that deletes what it has deployed",
		strings.Join(names, ", "))
}
