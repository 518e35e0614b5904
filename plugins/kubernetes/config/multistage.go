// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	singlePrefix = "K8S_"
	multiPrefix  = "K8S_MULTI_"
)

// MultiName is the name of the stage for many clusters that does what a stage for one does (PipeCD v1).
func MultiName(stage string) string { return multiPrefix + strings.TrimPrefix(stage, singlePrefix) }

// SingleName undoes MultiName; many is false when the stage is not one for many clusters.
func SingleName(stage string) (name string, many bool) {
	rest, many := strings.CutPrefix(stage, multiPrefix)
	if !many {
		return stage, false
	}
	return singlePrefix + rest, true
}

// MultiOptions are what every stage for many clusters may have in its `with`, and `quickSync`.
type MultiOptions struct {
	// MultiTargets are names of deploy targets. Default: all.
	MultiTargets []string `json:"multiTargets" jsonschema:"minLength=1"`
	// FailurePolicy is all, any or {maxFailed: N}: how many of the deploy targets may fail. Default all. PipeCD does
	// not read it.
	FailurePolicy FailurePolicy `json:"failurePolicy"`
}

// DecodeMulti reads that part of the `with` of a stage.
func DecodeMulti(stage string, with []byte) (MultiOptions, error) {
	var o MultiOptions
	return o, decodeWith(stage, with, &o)
}

// FailurePolicy says how many deploy targets may fail in a stage that succeeds nevertheless: "all" must succeed, "any"
// one is enough, {maxFailed: 2} may fail. At least one always has to succeed. The zero value is "all".
type FailurePolicy struct {
	any       bool
	maxFailed int
}

// JSONSchema is the schema of the three forms.
func (FailurePolicy) JSONSchema() map[string]any {
	return map[string]any{
		"anyOf": []any{
			map[string]any{"type": "string", "enum": []any{"all", "any"}},
			map[string]any{
				"type": "object", "additionalProperties": false, "required": []string{"maxFailed"},
				"properties": map[string]any{"maxFailed": map[string]any{
					"type": "integer", "minimum": 0,
					"description": "maxFailed is the number of deploy targets that may fail.",
				}},
			},
		},
		"patternErrorMessage": "all, any, or {maxFailed: 1}",
	}
}

// UnmarshalJSON reads the three forms.
func (p *FailurePolicy) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) == nil {
		switch word {
		case "", "all": // null, too
			*p = FailurePolicy{}
		case "any":
			*p = FailurePolicy{any: true}
		default:
			return fmt.Errorf("failurePolicy: %q is not known; use all, any, or {maxFailed: 1}", word)
		}
		return nil
	}
	var form struct {
		MaxFailed *int `json:"maxFailed"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&form); err != nil {
		return fmt.Errorf("failurePolicy: %s is not all, any or {maxFailed: 1}", data)
	}
	if form.MaxFailed == nil || *form.MaxFailed < 0 {
		return errors.New("failurePolicy: maxFailed must be a number of deploy targets from 0 on")
	}
	*p = FailurePolicy{maxFailed: *form.MaxFailed}
	return nil
}

// Allows reports whether a stage succeeds at which so many of all its deploy targets failed.
func (p FailurePolicy) Allows(failed, all int) bool {
	switch {
	case failed == 0:
		return true
	case failed >= all:
		return false
	}
	return p.any || failed <= p.maxFailed
}

// String is how a user writes it.
func (p FailurePolicy) String() string {
	switch {
	case p.any:
		return "any"
	case p.maxFailed > 0:
		return fmt.Sprintf("{maxFailed: %d}", p.maxFailed)
	}
	return "all"
}
