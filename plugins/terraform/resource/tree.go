// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"encoding/json"
	"fmt"

	tfjson "github.com/hashicorp/terraform-json"
)

// maxResources bounds a tree.
const maxResources = 5000

// Module is the type of a module.
const Module = "module"

// Resource is a resource or a module.
type Resource struct {
	Address string
	// Module is the address of the module that holds it; empty for the root.
	Module string
	// Type is such as aws_instance, or Module.
	Type string
	// ID is the id that the provider knows it by; empty when that is not known, or secret.
	ID       string
	Provider string
	// Tainted says that its creation failed: the next apply replaces it.
	Tainted bool
}

// OfPlan returns the resources of the state that a plan, as JSON, was made for, modules before what they hold.
func OfPlan(data []byte) ([]Resource, error) {
	var plan struct {
		PriorState *tfjson.State `json:"prior_state"`
	}
	if err := json.Unmarshal(data, &plan); err != nil {
		return nil, fmt.Errorf("read the state as JSON: %w", err)
	}
	return of(plan.PriorState), nil
}

// OfState returns the resources of a state as JSON.
func OfState(data []byte) ([]Resource, error) {
	// A state that does not exist has no values, which the type refuses.
	var state struct {
		Values *tfjson.StateValues `json:"values"`
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return nil, fmt.Errorf("read the state as JSON: %w", err)
	}
	return of(&tfjson.State{Values: state.Values}), nil
}

func of(state *tfjson.State) []Resource {
	var tree []Resource
	if state != nil && state.Values != nil {
		add(&tree, state.Values.RootModule, "")
	}
	return tree
}

func add(tree *[]Resource, module *tfjson.StateModule, parent string) {
	if module == nil {
		return
	}
	if module.Address != "" {
		*tree = append(*tree, Resource{Address: module.Address, Module: parent, Type: Module})
	}
	for _, r := range module.Resources {
		if r.Mode == tfjson.DataResourceMode || len(*tree) >= maxResources {
			continue
		}
		*tree = append(*tree, Resource{Address: r.Address, Module: module.Address, Type: r.Type,
			ID: idOf(r), Provider: r.ProviderName, Tainted: r.Tainted})
	}
	for _, child := range module.ChildModules {
		add(tree, child, module.Address)
	}
}

func idOf(r *tfjson.StateResource) string {
	var secret map[string]any
	if err := json.Unmarshal(r.SensitiveValues, &secret); err != nil || secret["id"] == true {
		return ""
	}
	id, _ := r.AttributeValues["id"].(string)
	return id
}
