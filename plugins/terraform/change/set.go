// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
)

// Action is what happens to a resource or an output.
type Action string

// The actions.
const (
	Create  Action = "create"
	Update  Action = "update"
	Replace Action = "replace"
	Destroy Action = "destroy"
	// Forget removes a resource from the state alone.
	Forget Action = "forget"
	// Move and Import change the state alone.
	Move   Action = "move"
	Import Action = "import"
)

// Resource is a resource that a plan changes.
type Resource struct {
	Address string `json:"address"`
	// Type is such as aws_instance, Module the address of the module that holds the resource, empty for the root. The
	// address has both, so that data for users and digests do without.
	Type   string `json:"-"`
	Module string `json:"-"`
	Action Action `json:"action"`
	// Reason is why the resource is replaced or destroyed, in words.
	Reason string `json:"reason,omitempty"`
	// From is the address before a move.
	From   string  `json:"from,omitempty"`
	Fields []Field `json:"fields,omitempty"`
	// MoreFields counts fields that were left out.
	MoreFields int `json:"moreFields,omitempty"`
}

// Output is an output that a plan changes.
type Output struct {
	Name   string `json:"name"`
	Action Action `json:"action"`
	Field  Field  `json:"field"`
}

// Set is what a plan changes.
type Set struct {
	Resources []Resource `json:"resources,omitempty"`
	Outputs   []Output   `json:"outputs,omitempty"`

	secrets, numbers []string
}

// Of returns the changes of a plan as JSON, as "show -json" prints it.
func Of(data []byte) (*Set, error) {
	var plan tfjson.Plan
	if err := json.Unmarshal(data, &plan); err != nil {
		return nil, fmt.Errorf("read the plan as JSON: %w", err)
	}
	set, known := &Set{}, valuesOf(&plan)
	set.secrets, set.numbers = secretsOf(&plan)
	drifted := driftedOf(&plan, known)
	for _, r := range plan.ResourceChanges {
		if resource, changes := resourceOf(r, known); changes {
			drifted.put(&resource)
			set.Resources = append(set.Resources, resource)
		}
	}
	for name, o := range plan.OutputChanges {
		if action, changes := actionOf(o.Actions); changes {
			set.Outputs = append(set.Outputs, Output{Name: name, Action: action, Field: wholeField(name, o, known)})
		}
	}
	set.hide()
	slices.SortFunc(set.Outputs, func(a, b Output) int { return strings.Compare(a.Name, b.Name) })
	return set, nil
}

func resourceOf(r *tfjson.ResourceChange, secret values) (Resource, bool) {
	resource := Resource{Address: r.Address, Type: r.Type, Module: r.ModuleAddress}
	if r.Mode == tfjson.DataResourceMode || r.Change == nil {
		return resource, false
	}
	if r.DeposedKey != "" {
		resource.Address += " (deposed " + r.DeposedKey + ")"
	}
	action, changes := actionOf(r.Change.Actions)
	switch {
	case changes:
		resource.Action = action
	case r.PreviousAddress != "" && r.PreviousAddress != r.Address:
		resource.Action = Move
	case r.Change.Importing != nil:
		resource.Action = Import
	default:
		return resource, false
	}
	if r.PreviousAddress != r.Address {
		resource.From = r.PreviousAddress
	}
	resource.Fields, resource.MoreFields = fieldsOf(r.Change, secret)
	resource.Reason = reasonOf(r)
	return resource, true
}

func actionOf(actions tfjson.Actions) (Action, bool) {
	switch {
	case actions.Replace():
		return Replace, true
	case actions.Create():
		return Create, true
	case actions.Delete():
		return Destroy, true
	case actions.Update():
		return Update, true
	case slices.Contains(actions, tfjson.ActionForget):
		return Forget, true
	}
	return "", false
}

// Empty is whether nothing changes.
func (s *Set) Empty() bool { return len(s.Resources) == 0 && len(s.Outputs) == 0 }

// Destroyed are the addresses of resources that are destroyed or replaced.
func (s *Set) Destroyed() []string {
	var list []string
	for _, r := range s.Resources {
		if r.Action == Destroy || r.Action == Replace {
			list = append(list, r.Address)
		}
	}
	return list
}

// Within is whether another plan, which was shown, has everything that this one does. A resource whose creation was
// interrupted is replaced then.
func (s *Set) Within(shown *Set) error {
	known := map[string]Action{}
	for _, r := range shown.Resources {
		known[r.Address] = r.Action
	}
	for _, r := range s.Resources {
		action, is := known[r.Address]
		same := action == r.Action || r.Action == Replace && action == Create || r.Action == Create && action == Replace
		if !is || !same {
			return fmt.Errorf("%s of %s was not in the plan that was shown", r.Action, r.Address)
		}
	}
	return nil
}

// Without leaves out the resources that another plan, which may be nil, has created, replaced or changed.
func (s *Set) Without(there *Set) *Set {
	if there == nil {
		return s
	}
	known := map[string]bool{}
	for _, r := range there.Resources {
		known[r.Address] = true
	}
	left := &Set{}
	for _, r := range s.Resources {
		if !known[r.Address] {
			left.Resources = append(left.Resources, r)
		}
	}
	return left
}

// Only are the resources with which that happens.
func (s *Set) Only(action Action) *Set {
	only := &Set{}
	for _, r := range s.Resources {
		if r.Action == action {
			only.Resources = append(only.Resources, r)
		}
	}
	return only
}

// Digest identifies the changes, whatever order the program found them in.
func (s *Set) Digest() string {
	sorted := Set{Resources: slices.Clone(s.Resources), Outputs: s.Outputs}
	slices.SortFunc(sorted.Resources, func(a, b Resource) int { return strings.Compare(a.Address, b.Address) })
	data, err := json.Marshal(sorted)
	if err != nil {
		panic(err) // texts and numbers
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Summary is one line: "1 to create, 2 to change, 1 to destroy".
func (s *Set) Summary() string {
	if s.Empty() {
		return "No changes"
	}
	parts := counted(s.Resources)
	switch len(s.Outputs) {
	case 0:
	case 1:
		parts = append(parts, "1 output")
	default:
		parts = append(parts, fmt.Sprintf("%d outputs", len(s.Outputs)))
	}
	return strings.Join(parts, ", ")
}

// counted are numbers with words: "1 to create", "2 to change".
func counted(resources []Resource) []string {
	counts := map[Action]int{}
	for _, r := range resources {
		counts[r.Action]++
	}
	var parts []string
	for _, one := range []struct {
		action Action
		words  string
	}{
		{Create, "to create"}, {Update, "to change"}, {Replace, "to replace"}, {Destroy, "to destroy"},
		{Import, "to import"}, {Move, "to move"}, {Forget, "to forget"},
	} {
		if n := counts[one.action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.words))
		}
	}
	return parts
}
