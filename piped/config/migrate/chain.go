// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// lostKinds are the kinds of PipeCD v0, as deployment chains call them, that no application has once it is migrated.
var lostKinds = []string{"TERRAFORM", "ECS", "CLOUDRUN", "LAMBDA"}

// chain names the blocks of the deployment chain that select applications by a kind which these lose by their
// migration. The block may select more than one, so that nothing here knows what to write instead.
func (a *application) chain() {
	post := a.spec.find("postSync")
	_, list := post.at("chain", "applications")
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for i, block := range list.Content {
		for j := 0; j+1 < len(block.Content) && block.Kind == yaml.MappingNode; j += 2 {
			key, value := block.Content[j], block.Content[j+1]
			if key.Value != "kind" || !slices.Contains(lostKinds, value.Value) {
				continue
			}
			path := join(join(join(join(post.path, "chain"), "applications"), i), "kind")
			a.note(key.Line, path, "is kept, but an application that is migrated has the kind KUBERNETES for a chain: "+
				"the chain does not deploy it any more; remove the key, and select by name or labels")
		}
	}
}
