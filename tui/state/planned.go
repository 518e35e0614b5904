// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// plannedKey is the metadata of a stage with what it changes, or would change.
	plannedKey = "pipedeck/planned-changes"
	// maxPlannedText bounds what is decoded, in bytes; plugins write less.
	maxPlannedText = 512 << 10
)

// PlannedTarget is what changes at one deploy target, as its plugin reports it.
type PlannedTarget struct {
	Name string `json:"name"`
	// Counts are all resources by their actions, also those that are left out.
	Counts        map[string]int    `json:"counts"`
	Resources     []PlannedResource `json:"resources"`
	MoreResources int               `json:"moreResources"`
	Outputs       []PlannedOutput   `json:"outputs"`
	MoreOutputs   int               `json:"moreOutputs"`
}

// PlannedResource is a resource that changes.
type PlannedResource struct {
	Address string `json:"address"`
	// Action is create, update, replace, destroy, forget, move or import.
	Action string `json:"action"`
	// Reason is why it is replaced or destroyed; From its address before a move.
	Reason     string         `json:"reason"`
	From       string         `json:"from"`
	Fields     []PlannedField `json:"fields"`
	MoreFields int            `json:"moreFields"`
}

// PlannedOutput is an output that changes.
type PlannedOutput struct {
	Name   string       `json:"name"`
	Action string       `json:"action"`
	Field  PlannedField `json:"field"`
}

// PlannedField is a field that changes; an empty value says that it is absent.
type PlannedField struct {
	Path   string `json:"path"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Forces is whether its change replaces the resource, Secret whether its values are hidden.
	Forces bool `json:"forces"`
	Secret bool `json:"secret"`
}

// PlannedByStage reads what a stage changes from its metadata; nil where it does not say, or in another form.
func PlannedByStage(metadata map[string]string) []PlannedTarget {
	var planned struct {
		Targets []PlannedTarget `json:"targets"`
	}
	if text := metadata[plannedKey]; len(text) > maxPlannedText || json.Unmarshal([]byte(text), &planned) != nil {
		return nil
	}
	return planned.Targets
}

// IsPlannedKey is whether PlannedByStage reads that metadata.
func IsPlannedKey(key string) bool { return key == plannedKey }

// PlannedAt reads what a plan preview changes at a deploy target; nil where the plugin does not say, or in another
// form.
func PlannedAt(changes string) *PlannedTarget {
	var target *PlannedTarget
	if changes == "" || len(changes) > maxPlannedText || json.Unmarshal([]byte(changes), &target) != nil {
		return nil
	}
	return target
}

// Empty is whether nothing changes there.
func (t *PlannedTarget) Empty() bool {
	return len(t.Counts) == 0 && len(t.Resources) == 0 && len(t.Outputs) == 0 && t.MoreOutputs == 0
}

// plannedWords are what happens to resources, in the order in which they are counted.
var plannedWords = [][2]string{
	{"destroy", "to destroy"}, {"replace", "to replace"}, {"update", "to change"}, {"create", "to create"},
	{"forget", "to forget"}, {"import", "to import"}, {"move", "to move"},
}

// Summary counts the changes in one line: "1 to destroy, 2 to create, 1 output".
func (t *PlannedTarget) Summary() string {
	var parts []string
	for _, one := range plannedWords {
		if n := t.Counts[one[0]]; n > 0 {
			parts = append(parts, fmt.Sprint(n, " ", one[1]))
		}
	}
	switch n := len(t.Outputs) + t.MoreOutputs; n {
	case 0:
	case 1:
		parts = append(parts, "1 output")
	default:
		parts = append(parts, fmt.Sprint(n, " outputs"))
	}
	if len(parts) == 0 {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}
