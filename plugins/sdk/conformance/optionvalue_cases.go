// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

func optionValueCases() []Case {
	return []Case{{
		ID: "options.values", Capability: Execution, run: optionValues,
		Title: "does not succeed when an option has a value of the wrong type",
		Why:   "the stage would ignore what its configuration says, or do something else, and report success",
		Next:  "decode each option into its type, at planning and in the stage, and fail with the name of the option",
	}, {
		ID: "options.command", Capability: Execution, run: optionCommand,
		Title: "does not succeed when the command in its options fails",
		Why:   "the deployment goes on although a test or a migration has failed",
		Next:  "end the stage with FAILURE when a program ends with another exit code than 0",
	}}
}

// given are the options of the caller.
func (s *suite) given() map[string]json.RawMessage {
	options := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(s.options.With), &options) != nil {
		return nil
	}
	return options
}

// quickly is settled for a stage that succeeds soon, since the case runs it again.
func (p *probe) quickly() error {
	const soon = 5 * time.Second
	e, err := p.settled()
	switch {
	case err != nil:
		return err
	case len(p.suite.given()) == 0:
		return skip("no options are given with --with")
	case e.failed():
		return skip("the stage does not succeed, see execution.ends")
	case e.took > soon:
		return skip("the stage takes too long to be run again for each option")
	}
	return nil
}

// changedOption runs the stage with another value of one option, unless planning refuses that.
func (p *probe) changedOption(key string, value any) (*execution, error) {
	s := p.suite
	options := withKey([]byte(s.with()), key, value)
	x, err := p.shared()
	if err != nil {
		return nil, err
	}
	stage := s.configured(s.stage(x), plannedIndex)
	stage.Config = options
	if _, err := p.plan(x, false, stage); refusal(err) {
		return nil, nil
	}
	return x.execute(p, order{edit: func(request *deployment.ExecuteStageRequest) {
		request.Input.StageConfig = options
	}})
}

func optionValues(p *probe) error {
	if err := p.quickly(); err != nil {
		return err
	}
	const most = 6
	anything := p.anything()
	var tried []string
	for _, key := range sortedKeys(p.suite.given()) {
		if len(tried) == most || slices.Contains(anything, key) {
			continue
		}
		var wrong any = map[string]any{"conformance": []string{"not", "a value"}}
		if strings.HasPrefix(strings.TrimSpace(string(p.suite.given()[key])), "{") {
			wrong = "not an object"
		}
		e, err := p.changedOption(key, wrong)
		if err != nil {
			return err
		}
		tried = append(tried, key)
		if e != nil && e.err == nil && !e.cut && !e.failed() {
			text, _ := json.Marshal(wrong)
			return fmt.Errorf("with the value %s of the wrong type for the option %s, the stage ended in %s: the "+
				"option is ignored, or its type is not checked", text, key, e.how())
		}
	}
	if len(tried) == 0 {
		return skip("its options may have any type")
	}
	p.saw("%s", strings.Join(tried, ", "))
	return nil
}

// anything are the options that may have an object or a text, as the schema says.
func (p *probe) anything() []string {
	root, err := definitions(p)
	if err != nil || p.used == nil {
		return nil
	}
	var stage struct {
		Properties map[string]map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(root.Definitions["stages"].Properties[p.suite.stage(p.used)], &stage) != nil {
		return nil
	}
	var keys []string
	for key, schema := range stage.Properties {
		kind, known := schema["type"]
		if !known || strings.Contains(string(kind), "object") {
			keys = append(keys, key)
		}
	}
	return keys
}

// commands are names of options that hold a program with its arguments, in many plugins.
var commands = []string{"run", "script", "command", "cmd", "shell"}

func optionCommand(p *probe) error {
	if err := p.quickly(); err != nil {
		return err
	}
	for _, key := range sortedKeys(p.suite.given()) {
		var text string
		if !slices.Contains(commands, strings.ToLower(key)) || json.Unmarshal(p.suite.given()[key], &text) != nil {
			continue
		}
		const failing = "exit 3"
		e, err := p.changedOption(key, failing)
		switch {
		case err != nil:
			return err
		case e == nil:
			return skip("it refuses %s: %s", key, failing)
		case e.err == nil && !e.cut && !e.failed():
			return fmt.Errorf("with %s: %s, a command that fails, the stage ended in %s", key, failing, e.how())
		}
		p.saw("%s", e.how())
		return nil
	}
	return skip("the options hold no command (%s)", strings.Join(commands, ", "))
}
