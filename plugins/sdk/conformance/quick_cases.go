// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

func quickSyncCases() []Case {
	return []Case{{
		ID: "quicksync.answers", Capability: QuickSync, run: quickAnswers,
		Title: "plans a quick sync, if only of no stages",
		Why:   "the first deployment of an application is a quick sync, and fails when one plugin does not answer",
		Next:  "answer BuildQuickSyncStages; a plugin without a quick sync answers without stages",
	}, {
		ID: "quicksync.names", Capability: QuickSync, run: quickNames,
		Title: "a quick sync has stages that the plugin names itself",
		Why:   "piped finds no plugin for another stage, and the deployment fails in its middle",
		Next:  "plan stages of FetchDefinedStages alone",
	}, {
		ID: "quicksync.valid", Capability: QuickSync, run: quickValid,
		Title: "stages of a quick sync have a name, times above 0 in seconds, and have not started",
		Why:   "the control plane refuses a deployment with a stage that breaks the rules",
		Next:  "set created_at and updated_at to the seconds since 1970, and no status",
	}, {
		ID: "quicksync.rollback", Capability: QuickSync, run: quickRollback,
		Title: "a quick sync has a rollback stage only when it is asked for",
		Why:   "an application without automatic rollback would be rolled back",
		Next:  "look at the field rollback of the request; mark the stage with rollback",
	}, {
		ID: "quicksync.deterministic", Capability: QuickSync, run: quickDeterministic,
		Title: "plans the same quick sync three times",
		Why:   "a deployment would have other stages than its plan preview, by chance",
		Next:  "do not use an order that changes, such as that of a map",
	}}
}

func (p *probe) quick(rollback bool) ([]*model.PipelineStage, error) {
	x, err := p.shared()
	if err != nil {
		return nil, err
	}
	ctx, cancel := p.limit()
	defer cancel()
	answer, err := x.deployments().BuildQuickSyncStages(ctx,
		&deployment.BuildQuickSyncStagesRequest{Rollback: rollback})
	if died := x.gone(err); died != nil {
		return nil, died
	}
	if err != nil {
		return nil, fmt.Errorf("BuildQuickSyncStages ended with %s", words(err))
	}
	return answer.GetStages(), nil
}

func quickAnswers(p *probe) error {
	stages, err := p.quick(true)
	p.saw("%s", namesOf(stages))
	return err
}

func quickNames(p *probe) error {
	stages, err := p.quick(true)
	if err != nil {
		return err
	}
	return namesKnown(p.used, stages)
}

func quickValid(p *probe) error {
	stages, err := p.quick(true)
	if err != nil {
		return err
	}
	for i, stage := range stages { // piped gives times where there are none
		stages[i] = proto.CloneOf(stage)
		if stage.GetCreatedAt() == 0 && stage.GetName() != "" {
			return fmt.Errorf("stage %s was created at 0: PipeCD's control plane refuses it", stage.GetName())
		}
	}
	if err := stagesValid(stages); err != nil {
		return err
	}
	return notStarted(stages)
}

func quickRollback(p *probe) error {
	with, err := p.quick(true)
	if err != nil {
		return err
	}
	without, err := p.quick(false)
	if err != nil {
		return err
	}
	if rollback := usual(without, true); len(rollback) > 0 {
		return fmt.Errorf("it plans %s although rollback is not asked for", namesOf(rollback))
	}
	if len(usual(with, false)) != len(without) {
		return fmt.Errorf("without rollback it plans %s, with rollback %s: a rollback stage is not marked as one",
			namesOf(without), namesOf(with))
	}
	if len(with) == 0 {
		return skip("it has no quick sync")
	}
	plan, err := p.onePlan()
	if err != nil {
		return nil //nolint:nilerr // another case looks at the plan
	}
	if rollback := usual(plan.stages, true); len(rollback) > 0 && len(usual(with, true)) == 0 {
		return fmt.Errorf("with rollback, a pipeline has %s, and a quick sync has none", namesOf(rollback))
	}
	return nil
}

func quickDeterministic(p *probe) error {
	var before []*model.PipelineStage
	for i := range 3 {
		stages, err := p.quick(true)
		if err != nil {
			return err
		}
		if i > 0 {
			if err := sameStages(before, stages); err != nil {
				return err
			}
		}
		before = stages
	}
	return nil
}
