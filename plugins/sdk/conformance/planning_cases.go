// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
)

// keepsIndex is the next step of a plan with other indexes.
const keepsIndex = "copy index, name and desc of each stage of the request into the answer"

func pipelineCases() []Case {
	return []Case{{
		ID: "planning.answers", Capability: Planning, run: planAnswers,
		Title: "plans the stage with its options",
		Why:   "a deployment whose stages cannot be planned fails before it begins",
		Next:  "answer BuildPipelineSyncStages with an entry for each stage of the request; check --with",
	}, {
		ID: "planning.names", Capability: Planning, run: planNames,
		Title: "plans stages that it names itself",
		Why:   "piped finds no plugin for another stage, and the deployment fails in its middle",
		Next:  "plan stages of FetchDefinedStages alone",
	}, {
		ID: "planning.indexes", Capability: Planning, run: planIndexes,
		Title: "each planned stage has the index of a stage of the request",
		Why:   "the deployment fails at planning, because an index is how piped finds the place in the pipeline",
		Next:  keepsIndex,
	}, {
		ID: "planning.every-stage", Capability: Planning, run: planEvery,
		Title: "plans each stage of the request once",
		Why:   "a stage of the pipeline is otherwise left out or runs twice",
		Next:  keepsIndex,
	}, {
		ID: "planning.description", Capability: Planning, run: planDescription,
		Title: "keeps the description of a stage",
		Why:   "users do not see the words that they wrote for the stage",
		Next:  keepsIndex,
	}, {
		ID: "planning.valid", Capability: Planning, run: planValid,
		Title: "planned stages have a name, times above 0 in seconds, and known values",
		Why:   "the control plane refuses a deployment with a stage that breaks the rules",
		Next:  "set created_at and updated_at to the seconds since 1970",
	}, {
		ID: "planning.status", Capability: Planning, run: planStatus,
		Title: "planned stages have not started",
		Why:   "PipeCD's piped skips a stage that is planned as done",
		Next:  "leave the status at STAGE_NOT_STARTED_YET",
	}}
}

func rollbackCases() []Case {
	return []Case{{
		ID: "planning.rollback.unasked", Capability: Planning, run: planNoRollback,
		Title: "plans no rollback stage unless it is asked to",
		Why:   "an application without automatic rollback would be rolled back",
		Next:  "look at the field rollback of the request",
	}, {
		ID: "planning.rollback.asked", Capability: Planning, run: planAskedRollback,
		Title: "plans its rollback stage when it is asked to",
		Why:   "a deployment that fails stays as it is, although the application asks for a rollback",
		Next:  "add the rollback stage to the answer when the field rollback of the request is set",
	}, {
		ID: "planning.rollback.index", Capability: Planning, run: planRollback,
		Title: "a rollback stage has the index of a stage of the request, at most one for each",
		Why:   "piped gives a rollback stage the options of the stage with its index",
		Next:  "set index to that of one of the stages of the request, and rollback to true",
	}, {
		ID: "planning.several", Capability: Planning, run: planSeveral,
		Title: "plans all its stages in one request with their indexes",
		Why:   "pipelines of several stages would have them in another order, or lose some",
		Next:  keepsIndex,
	}, {
		ID: "planning.duplicates", Capability: Planning, run: planDuplicates,
		Title: "plans a stage that is twice in the pipeline twice",
		Why:   "pipelines may have a stage several times, such as a wait; one of them would be lost",
		Next:  "do not use the name of a stage as a key; " + keepsIndex,
	}, {
		ID: "planning.deterministic", Capability: Planning, run: planDeterministic,
		Title: "plans the same three times",
		Why:   "a deployment would have other stages than its plan preview, by chance",
		Next:  "do not use an order that changes, such as that of a map",
	}}
}

func planAnswers(p *probe) error {
	if _, err := p.onePlan(); err == nil {
		p.saw("%s", namesOf(p.suite.pipeline.value.stages))
		return nil
	} else if p.suite.pipeline.value == nil || p.suite.pipeline.value.err == nil {
		return err
	}
	return p.suite.refusedPlan(p.suite.pipeline.value.stage, p.suite.pipeline.value.err)
}

// ofPlan makes a case of what one plan has to be.
func ofPlan(check func(x *session, plan *planned) error) func(*probe) error {
	return func(p *probe) error {
		plan, err := p.onePlan()
		if err != nil {
			return err
		}
		return check(p.used, plan)
	}
}

func planNames(p *probe) error {
	return ofPlan(func(x *session, plan *planned) error { return namesKnown(x, plan.stages) })(p)
}

func planIndexes(p *probe) error {
	return ofPlan(func(_ *session, plan *planned) error {
		for _, stage := range plan.stages {
			if stage.GetIndex() != plannedIndex {
				return fmt.Errorf("stage %s has the index %d, which is not in the request", stage.GetName(),
					stage.GetIndex())
			}
		}
		return nil
	})(p)
}

func planEvery(p *probe) error {
	return ofPlan(func(_ *session, plan *planned) error {
		normal := usual(plan.stages, false)
		if len(normal) != 1 {
			return fmt.Errorf("it plans %d stages for the one stage %s: %s", len(normal), plan.stage,
				namesOf(plan.stages))
		}
		if name := normal[0].GetName(); name != plan.stage {
			return fmt.Errorf("it plans %s for the stage %s", name, plan.stage)
		}
		return nil
	})(p)
}

func planDescription(p *probe) error {
	return ofPlan(func(_ *session, plan *planned) error {
		want := fmt.Sprintf("description %d", plannedIndex)
		for _, stage := range usual(plan.stages, false) {
			if stage.GetDesc() != want {
				return fmt.Errorf("the description of %s is %q, and was %q in the request", stage.GetName(),
					clip(stage.GetDesc()), want)
			}
		}
		return nil
	})(p)
}

func planValid(p *probe) error {
	return ofPlan(func(_ *session, plan *planned) error { return stagesValid(plan.stages) })(p)
}

func planStatus(p *probe) error {
	return ofPlan(func(_ *session, plan *planned) error { return notStarted(plan.stages) })(p)
}

func planNoRollback(p *probe) error {
	plan, err := p.onePlan()
	if err != nil {
		return err
	}
	stages, err := p.plan(p.used, false, p.suite.configured(plan.stage, plannedIndex))
	if err != nil {
		return fmt.Errorf("without rollback, BuildPipelineSyncStages ended with %s", words(err))
	}
	if rollback := usual(stages, true); len(rollback) > 0 {
		return fmt.Errorf("it plans %s although rollback is not asked for", namesOf(rollback))
	}
	if len(usual(stages, false)) != len(usual(plan.stages, false)) {
		return fmt.Errorf("without rollback it plans %s, with rollback %s: a rollback stage is not marked as one",
			namesOf(stages), namesOf(plan.stages))
	}
	return nil
}

func planAskedRollback(p *probe) error {
	plan, err := p.onePlan()
	if err != nil {
		return err
	}
	if len(usual(plan.stages, true)) > 0 {
		return nil
	}
	for _, name := range p.used.stages {
		if !strings.Contains(strings.ToUpper(name), "ROLLBACK") {
			continue
		}
		quick, err := p.quick(true)
		stageAlone := err == nil && len(quick) == 0
		if stageAlone && p.rollbackIsOption() {
			return skip("its rollback depends on the options of the stage")
		}
		found := fmt.Sprintf("it has the stage %s, and for %s with rollback it plans %s", name, plan.stage,
			namesOf(plan.stages))
		if _, err := p.schema(); stageAlone && err != nil {
			return note("%s; where an option asks for the rollback, as onRollback does for PipeCD's scriptrun, "+
				"give it with --with", found)
		}
		return errors.New(found)
	}
	return skip("it has no rollback stage")
}

// rollbackIsOption is whether an option of the stage asks for a rollback, as onRollback does.
func (p *probe) rollbackIsOption() bool {
	document, err := p.schema()
	known := strings.ToLower(string(document))
	return err == nil && strings.Contains(known, "rollback\"") ||
		strings.Contains(strings.ToLower(p.suite.with()), "rollback")
}

func planRollback(p *probe) error {
	plan, err := p.onePlan()
	if err != nil {
		return err
	}
	rollback := usual(plan.stages, true)
	if len(rollback) == 0 {
		return skip("it plans no rollback stage")
	}
	return indexesOnce(rollback, plannedIndex)
}

// indexesOnce holds stages to piped's rule: each index is one of the request's, once.
func indexesOnce(stages []*model.PipelineStage, indexes ...int32) error {
	left := map[int32]bool{}
	for _, index := range indexes {
		left[index] = true
	}
	for _, stage := range stages {
		if !left[stage.GetIndex()] {
			return fmt.Errorf("stage %s has the index %d, which is not in the request or is used twice",
				stage.GetName(), stage.GetIndex())
		}
		delete(left, stage.GetIndex())
	}
	return nil
}

func planSeveral(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	var stages []*stageConfig
	var indexes []int32
	plan, err := p.onePlan()
	if err != nil {
		return err
	}
	rollbacks := map[string]bool{}
	for _, stage := range usual(plan.stages, true) {
		rollbacks[stage.GetName()] = true
	}
	for i, name := range x.stages {
		if !rollbacks[name] {
			stages, indexes = append(stages, p.suite.configured(name, int32(2*i+1))), append(indexes, int32(2*i+1))
		}
	}
	if len(stages) < 2 {
		return skip("it has one stage, see planning.duplicates")
	}
	answer, err := p.plan(x, true, stages...)
	if refusal(err) {
		return skip("it refuses these options for other stages: %s", words(err))
	}
	if err != nil {
		return fmt.Errorf("BuildPipelineSyncStages ended with %s", words(err))
	}
	return wholePlan(answer, stages, indexes)
}

// wholePlan compares a plan with its request.
func wholePlan(answer []*model.PipelineStage, stages []*stageConfig, indexes []int32) error {
	normal := usual(answer, false)
	if err := indexesOnce(normal, indexes...); err != nil {
		return err
	}
	if len(normal) != len(stages) {
		return fmt.Errorf("it plans %d stages for %d: %s", len(normal), len(stages), namesOf(answer))
	}
	for _, stage := range stages {
		for _, given := range normal {
			if given.GetIndex() == stage.GetIndex() && given.GetName() != stage.GetName() {
				return fmt.Errorf("at the index %d it plans %s in place of %s", stage.GetIndex(), given.GetName(),
					stage.GetName())
			}
			if other := described(stages, given.GetDesc()); given.GetIndex() == stage.GetIndex() && other != nil &&
				other != stage {
				return fmt.Errorf("at the index %d it plans %s with the description of that at the index %d: the "+
					"stages have each other's index", stage.GetIndex(), given.GetName(), other.GetIndex())
			}
		}
	}
	return indexesOnce(usual(answer, true), indexes...)
}

// described is the stage of a request that has a description; nil for none.
func described(stages []*stageConfig, desc string) *stageConfig {
	for _, stage := range stages {
		if stage.GetDesc() == desc {
			return stage
		}
	}
	return nil
}

func planDuplicates(p *probe) error {
	plan, err := p.onePlan()
	if err != nil {
		return err
	}
	stages := []*stageConfig{p.suite.configured(plan.stage, 1), p.suite.configured(plan.stage, 4)}
	answer, err := p.plan(p.used, true, stages...)
	if err != nil {
		return fmt.Errorf("with %s twice, BuildPipelineSyncStages ended with %s", plan.stage, words(err))
	}
	return wholePlan(answer, stages, []int32{1, 4})
}

func planDeterministic(p *probe) error {
	plan, err := p.onePlan()
	if err != nil {
		return err
	}
	var stages []*stageConfig
	for i := range int32(8) { // so that an order by chance is seen
		stages = append(stages, p.suite.configured(plan.stage, i))
	}
	var before []*model.PipelineStage
	for i := range 3 {
		answer, err := p.plan(p.used, true, stages...)
		if err != nil {
			return fmt.Errorf("time %d, BuildPipelineSyncStages ended with %s", i+1, words(err))
		}
		if i > 0 {
			if err := sameStages(before, answer); err != nil {
				return err
			}
		}
		before = answer
	}
	return nil
}
