// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// rerunChoice says which stage is re-run.
type rerunChoice struct{ stage, deployment string }

func (c *rerunChoice) register(cmd *cobra.Command) {
	resolve.GivenVar(cmd.Flags(), &c.stage, "stage", "the stage `NAME`, by its type or id (default: of the newest "+
		"deployment with stages of the plugin, the last one that has failed, or else the last)")
	resolve.GivenVar(cmd.Flags(), &c.deployment, "deployment",
		"a stage of the deployment `ID`, or of a deployment of an application")
}

// rerunTarget is a stage of a deployment.
type rerunTarget struct {
	deployment *deckv1.Deployment
	stage      *deckv1.Stage
	// why says to the user why it was chosen among others; empty where the user has named it.
	why string
}

// choose returns the stage that a user means: of the plugin of a name, or with an empty one of any. It returns a target
// without a stage where none has run.
func (c *rerunChoice) choose(s *session.Session, cmd *cobra.Command, plugin string) (rerunTarget, error) {
	line := resolve.New(s, cmd, nil)
	deployments := s.State.AllDeployments()
	if c.deployment != "" {
		target, err := line.Flag("deployment", c.deployment).Target()
		if err != nil {
			return rerunTarget{}, err
		}
		deployments = []*deckv1.Deployment{target.Deployment}
		if target.Deployment == nil {
			deployments = s.State.Deployments(target.Application.GetId())
		}
	}
	var all []rerunTarget
	named := false // a stage of some deployment has the name
	for _, d := range deployments {
		stages := d.GetStages()
		if c.stage != "" {
			var err error
			if stages, err = line.Flag("stage", c.stage).Stages(d); err != nil && c.deployment != "" &&
				len(deployments) == 1 {
				return rerunTarget{}, err
			}
		}
		for _, stage := range stages {
			named = true
			if stage.GetStartedAt() == nil || plugin != "" && s.State.PluginOf(d, stage).GetName() != plugin {
				continue
			}
			all = append(all, rerunTarget{deployment: d, stage: stage})
		}
	}
	if c.stage != "" && !named {
		return rerunTarget{}, exit.Usage(fmt.Errorf("no deployment has a stage %q", c.stage),
			"see pipedeck deployments")
	}
	target := newestToRerun(all)
	target.why = chosen(target, all, len(deployments) == 1 && c.deployment != "")
	return target, nil
}

// chosen says why a target was chosen among all; given says that the user has named its deployment.
func chosen(target rerunTarget, all []rerunTarget, given bool) string {
	if len(all) == 0 {
		return ""
	}
	others, stages := map[string]bool{}, 0
	for _, one := range all {
		others[one.deployment.GetId()] = true
		if one.deployment.GetId() == target.deployment.GetId() {
			stages++
		}
	}
	stage := ""
	switch {
	case stages == 1:
	case target.stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE:
		stage = "its last stage that has failed"
	default:
		stage = "its last stage"
	}
	deployment := ""
	switch {
	case given:
	case len(others) == 1:
		deployment = "the only deployment with such a stage"
	case target.deployment.GetCompletedAt() == nil:
		deployment = "the newest deployment, since none has ended"
	default:
		deployment = "the newest deployment that has ended"
	}
	if stage != "" && deployment != "" {
		return deployment + ", " + stage
	}
	return deployment + stage
}

// pluginPatience bounds the wait for a plugin that is being started, which does not name its stages yet.
const pluginPatience = 30 * time.Second

// stateOf reads the state once the plugin of a name runs.
func stateOf(ctx context.Context, s *session.Session, plugin string) (*session.State, error) {
	bounded, cancel := context.WithTimeout(ctx, pluginPatience)
	defer cancel()
	state, err := session.AwaitState(bounded, s.Deck, func(now *session.State) bool {
		return slices.ContainsFunc(now.Plugins(), func(p *deckv1.Plugin) bool {
			return p.GetName() == plugin && p.GetState() == deckv1.Plugin_STATE_RUNNING && len(p.GetStages()) > 0
		})
	})
	if state != nil && ctx.Err() == nil {
		err = nil
	}
	return state, err
}

// newestToRerun returns a stage of the newest deployment that has ended, since an older one may have other options and
// sources: of its stages the last that has failed, or else the last. A deployment under way is only taken without
// another.
func newestToRerun(all []rerunTarget) (none rerunTarget) {
	if len(all) == 0 {
		return none
	}
	is := func(yes bool) int { return map[bool]int{true: 1}[yes] }
	return slices.MaxFunc(all, func(a, b rerunTarget) int {
		const failure = deckv1.StageStatus_STAGE_STATUS_FAILURE
		return cmp.Or(
			is(a.deployment.GetCompletedAt() != nil)-is(b.deployment.GetCompletedAt() != nil),
			a.deployment.GetCreatedAt().AsTime().Compare(b.deployment.GetCreatedAt().AsTime()),
			is(a.stage.GetStatus() == failure)-is(b.stage.GetStatus() == failure),
			a.stage.GetStartedAt().AsTime().Compare(b.stage.GetStartedAt().AsTime()),
		)
	})
}
