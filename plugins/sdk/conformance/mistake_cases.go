// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// refusalCases are about the mistakes of users at planning.
func refusalCases() []Case {
	return []Case{{
		ID: "planning.refusal.code", Capability: Planning, run: refusalCode,
		Title: "a refusal of options has a code of gRPC other than UNKNOWN",
		Why:   "who reads metrics or logs cannot distinguish a mistake of a user from a defect of the plugin",
		Next:  "answer INVALID_ARGUMENT for options that cannot be, with the words for the user as the message",
	}}
}

func refusalCode(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	stage := p.suite.configured(p.suite.stage(x), plannedIndex)
	stage.Config = []byte(`["not", "options"]`)
	_, err = p.plan(x, false, stage)
	switch {
	case x.gone(err) != nil:
		return x.gone(err)
	case !refusal(err):
		return skip("it refuses no options at planning")
	case status.Code(err) == codes.Unknown:
		return note("for options that are a list, planning ended with the code UNKNOWN: %s",
			firstLine(status.Convert(err).Message()))
	}
	p.saw("%s", words(err))
	return nil
}

// unknownKey is the name of an option that no stage has.
const unknownKey = "conformanceUnknownKey"

func misspeltCases() []Case {
	return []Case{{
		ID: "options.misspelt", Capability: Execution, run: misspeltOption,
		Title: "an option that it does not know is found by someone",
		Why:   "a misspelt option has no effect, and the stage succeeds without it",
		Next: "serve a schema whose stages have additionalProperties: false, which pipedeck validate reads, or " +
			"refuse the option with its name",
	}}
}

// misspeltOption wants one of these: planning or the stage refuses the option, the log names it, the schema excludes
// it.
func misspeltOption(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	if closed(p, p.suite.stage(x)) {
		p.saw("its schema has no such option")
		return nil
	}
	first, err := p.settled()
	switch {
	case err != nil:
		return err
	case first.failed():
		return skip("the stage does not succeed, see execution.ends")
	case !readsOptions(p, first.stage):
		return skip("the stage is not known to have options")
	}
	e, err := p.changedOption(unknownKey, "value")
	switch {
	case err != nil:
		return err
	case e == nil:
		p.saw("planning refuses it")
		return nil
	case e.cut || e.err != nil || e.failed() || strings.Contains(e.session.piped.Log(e.id), unknownKey):
		p.saw("%s", e.how())
		return nil
	}
	return note("with the option %s, which it does not know, the stage ended in %s; neither planning, the log nor a "+
		"schema names it", unknownKey, e.how())
}

// closed is whether the schema of a stage excludes options that it does not list.
func closed(p *probe, stage string) bool {
	root, err := definitions(p)
	if err != nil {
		return false
	}
	var options struct {
		Ref        string          `json:"$ref"`
		Additional json.RawMessage `json:"additionalProperties"`
		Evaluated  json.RawMessage `json:"unevaluatedProperties"`
	}
	schema, known := root.Definitions["stages"].Properties[stage]
	if !known || json.Unmarshal(schema, &options) != nil {
		return false
	}
	referred := root.Definitions[strings.TrimPrefix(options.Ref, "#/definitions/")]
	for _, text := range []json.RawMessage{options.Additional, options.Evaluated, referred.Additional} {
		if string(text) == "false" {
			return true
		}
	}
	return false
}
