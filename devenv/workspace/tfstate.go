// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"encoding/json"
	"io"
	"os"
	"path"
	"strings"
)

const (
	// TerraformFolder holds the states of applications of the plugin terraform that name no place for theirs.
	TerraformFolder = "terraform"
	// maxState bounds in bytes a state that is read; a larger one stays.
	maxState = 64 << 20
	// builtinProvider is that of terraform_data, which exists in the state alone.
	builtinProvider = `provider["terraform.io/builtin/terraform"]`
)

// terraformLayout lists what the plugin keeps for a deploy target of an application. States of workspaces are in a
// folder for each.
var terraformLayout = append([]item{
	{pattern: "workspaces", kind: storeItem, holds: []item{{pattern: "*", kind: storeItem, holds: stateLayout}}},
}, stateLayout...)

var stateLayout = []item{
	{pattern: "terraform.tfstate", stays: namesResources},
	{pattern: "terraform.tfstate.backup"},
	{pattern: "terraform.tfstate.*.backup"},
	{pattern: ".terraform.tfstate.lock.info"},
}

// namesResources reports whether a state names resources that exist elsewhere: without it, no one can change or destroy
// them any more. What cannot be read may do so.
func namesResources(root *os.Root, name string) bool {
	file, err := root.Open(name)
	if err != nil {
		return true
	}
	defer file.Close()
	var state struct {
		Resources []struct{ Mode, Provider string }
	}
	if err := json.NewDecoder(io.LimitReader(file, maxState)).Decode(&state); err != nil {
		return true
	}
	for _, resource := range state.Resources {
		if resource.Mode == "managed" && resource.Provider != builtinProvider {
			return true
		}
	}
	return false
}

// isState reports whether something that was left is a state of the plugin terraform.
func isState(name string) bool {
	return strings.HasPrefix(name, TerraformFolder+"/") && path.Base(name) == "terraform.tfstate"
}
