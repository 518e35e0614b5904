// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

func optionCases() []Case {
	return []Case{{
		ID: "options.malformed", Capability: Execution, run: malformedOptions,
		Title: "does not succeed with options that are not JSON",
		Why:   "the stage would do something else than its configuration says, and report success",
		Next:  "decode stage_config and end the stage with the error",
	}, {
		ID: "options.type", Capability: Execution, run: optionsOfWrongType,
		Title: "does not succeed with options of the wrong type",
		Why:   "the stage would do something else than its configuration says, and report success",
		Next:  "decode stage_config into a type, and end the stage with the error",
	}, {
		ID: "options.absent", Capability: Execution, run: absentOptions,
		Title: "options of zero bytes, as in a quick sync, do not end the process",
		Why:   "a quick sync sends no options at all; one would end the stages of all deployments",
		Next:  "treat an empty stage_config as {}",
	}, {
		ID: "options.unknown", Capability: Execution, run: unknownOptions,
		Title: "ignores or refuses an option that it does not know, and lives",
		Why:   "one misspelt key would end the stages of all deployments",
		Next:  "ignore unknown keys, or end the stage with an error that has the key in it",
	}}
}

// withOptions runs the stage with other options in a separate process.
func withOptions(p *probe, options []byte) (*execution, error) {
	x, err := p.start(setup{})
	if err != nil {
		return nil, err
	}
	e, err := x.execute(p, order{edit: func(request *deployment.ExecuteStageRequest) {
		request.Input.StageConfig = options
	}})
	if err != nil {
		return nil, err
	}
	if died := x.gone(e.err); died != nil {
		return nil, died
	}
	return e, nil
}

// readsOptions is whether the stage is known to have options: it was given some, or its schema has some.
func readsOptions(p *probe, stage string) bool {
	if strings.ContainsRune(p.suite.options.With, '"') {
		return true
	}
	root, err := definitions(p)
	if err != nil {
		return false
	}
	var options struct {
		Ref        string                     `json:"$ref"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	schema, known := root.Definitions["stages"].Properties[stage]
	if !known || json.Unmarshal(schema, &options) != nil {
		return false
	}
	referred := root.Definitions[strings.TrimPrefix(options.Ref, "#/definitions/")]
	return len(options.Properties)+len(referred.Properties) > 0
}

// mustFail is for options that no stage with options can take.
func mustFail(p *probe, what string, options []byte) error {
	e, err := withOptions(p, options)
	if err != nil {
		return err
	}
	reads := readsOptions(p, e.stage)
	switch {
	case e.cut && reads:
		return fmt.Errorf("with %s it was still at work after %s", what, p.suite.options.RunLimit)
	case e.cut:
		return skip("%s", p.suite.cutOff())
	case e.problem() != nil:
		return e.problem()
	case !e.failed() && reads:
		return fmt.Errorf("with %s the stage ended in %s", what, e.how())
	case !e.failed():
		return note("with %s the stage ended in %s; that is right for a stage without options", what, e.how())
	}
	p.saw("%s", e.how())
	return nil
}

func malformedOptions(p *probe) error {
	return mustFail(p, "options that are not JSON", []byte(`{"broken": `))
}

func optionsOfWrongType(p *probe) error {
	return mustFail(p, "a list in place of options", []byte(`["not", "options"]`))
}

func absentOptions(p *probe) error {
	e, err := withOptions(p, nil)
	if err != nil {
		return err
	}
	if e.cut {
		return skip("%s", p.suite.cutOff())
	}
	p.saw("%s", e.how())
	return e.problem()
}

func unknownOptions(p *probe) error {
	if _, err := p.settled(); err != nil {
		return err
	}
	options := withKey([]byte(p.suite.with()), unknownKey, "value")
	e, err := withOptions(p, options)
	switch {
	case err != nil:
		return err
	case e.cut:
		return errors.New(p.suite.cutOff())
	}
	p.saw("%s", e.how())
	return e.problem()
}
