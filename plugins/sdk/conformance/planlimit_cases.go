// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"time"
)

func pipelineLimits() []Case {
	return []Case{{
		ID: "planning.empty", Capability: Planning, run: planEmpty,
		Title: "a request without stages is answered without stages",
		Why:   "a plugin that ends, or invents a stage, breaks applications that use another plugin",
		Next:  "answer with the stages of the request, also when there are none",
	}, {
		ID: "planning.unknown", Capability: Planning, run: planUnknown,
		Title: "a stage that it does not have ends neither the process nor becomes another stage",
		Why:   "a misspelt name would run another stage, or stop all deployments",
		Next:  "refuse the request with InvalidArgument and the name of the stage",
	}, {
		ID: "planning.options.malformed", Capability: Planning, run: planMalformedOptions,
		Title: "options that are not JSON do not end the process",
		Why:   "one broken application would end the stages of all others",
		Next:  "answer InvalidArgument when the options cannot be decoded",
	}, {
		ID: "planning.options.absent", Capability: Planning, run: planNoOptions,
		Title: "options of zero bytes do not end the process",
		Why:   "PipeCD's piped sends {}; others may leave the bytes out",
		Next:  "treat an empty config as {}",
	}, {
		ID: "planning.large", Capability: Planning, run: planLarge,
		Title: "plans a pipeline of 200 stages within 10 s",
		Why:   "large pipelines exist, and piped plans one deployment after another",
		Next:  "do no slow work for each stage at planning",
	}}
}

func planEmpty(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	stages, err := p.plan(x, false)
	if refusal(err) {
		return note("it refuses: %s", words(err))
	}
	if err != nil {
		return fmt.Errorf("BuildPipelineSyncStages ended with %s", words(err))
	}
	if normal := usual(stages, false); len(normal) > 0 {
		return fmt.Errorf("for a request without stages it plans %s", namesOf(normal))
	}
	return nil
}

func planUnknown(p *probe) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	stages, err := p.plan(x, false, p.suite.configured(unknownStage, plannedIndex))
	if died := x.gone(err); died != nil {
		return died
	}
	if err != nil {
		p.saw("%s", words(err))
		return nil
	}
	for _, stage := range stages {
		if stage.GetName() != unknownStage {
			return fmt.Errorf("for the stage %s it plans %s", unknownStage, stage.GetName())
		}
	}
	return note("it plans %s as it is; piped asks for stages that the plugin names alone", unknownStage)
}

// planWith plans the stage with other options, of which only the end of the process is a mistake.
func planWith(p *probe, options []byte) error {
	x, err := p.start(setup{})
	if err != nil {
		return err
	}
	stage := p.suite.configured(p.suite.stage(x), plannedIndex)
	stage.Config = options
	_, err = p.plan(x, true, stage)
	if died := x.gone(err); died != nil {
		return died
	}
	if err != nil && !refusal(err) {
		return fmt.Errorf("BuildPipelineSyncStages ended with %s", words(err))
	}
	p.saw("%s", words(err))
	return nil
}

func planMalformedOptions(p *probe) error { return planWith(p, []byte(`{"broken": `)) }

func planNoOptions(p *probe) error { return planWith(p, nil) }

func planLarge(p *probe) error {
	plan, err := p.onePlan()
	if err != nil {
		return err
	}
	var stages []*stageConfig
	var indexes []int32
	for i := range int32(200) {
		stages, indexes = append(stages, p.suite.configured(plan.stage, i)), append(indexes, i)
	}
	began := time.Now()
	answer, err := p.plan(p.used, true, stages...)
	if err != nil {
		return fmt.Errorf("with 200 stages, BuildPipelineSyncStages ended with %s", words(err))
	}
	const limit = 10 * time.Second
	if took := time.Since(began); took > limit {
		return fmt.Errorf("a plan of 200 stages took %s", took.Round(time.Millisecond))
	}
	return wholePlan(answer, stages, indexes)
}
