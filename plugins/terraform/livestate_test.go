// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/change"
	"github.com/pipedeck/pipedeck/plugins/terraform/resource"
)

// sightingOf is what a plan, as JSON, says about a deploy target.
func sightingOf(t *testing.T, plan string) *sightingAt {
	t.Helper()
	changes, err := change.Of([]byte(plan))
	require.NoError(t, err)
	tree, err := resource.OfPlan([]byte(plan))
	require.NoError(t, err)
	return &sightingAt{target: "here", changes: changes, tree: tree}
}

// created is a change that creates a resource of a module, which may be empty.
func created(module, kind, name string) string {
	address, in := kind+"."+name, ""
	if module != "" {
		address = module + "." + address
		in = fmt.Sprintf(`"module_address": %q, `, module)
	}
	return fmt.Sprintf(`{"address": %q, %s"mode": "managed", "type": %q, "name": %q,
		"change": {"actions": ["create"], "before": null, "after": {"input": "1"}}}`, address, in, kind, name)
}

func planOf(state string, changes ...string) string {
	return `{"format_version": "1.2", "prior_state": {"format_version": "1.0", "values": {"root_module": ` + state +
		`}}, "resource_changes": [` + strings.Join(changes, ",") + `]}`
}

func TestAPlannedResourceIsBelowItsModuleAndHasItsType(t *testing.T) {
	t.Parallel()
	at := sightingOf(t, planOf(`{"child_modules": [{"address": "module.net[\"a.b\"]", "resources": [
		{"address": "module.net[\"a.b\"].aws_vpc.old", "mode": "managed", "type": "aws_vpc", "name": "old"}]}]}`,
		created(`module.net["a.b"]`, "aws_vpc", "main"), created(`module.later["c"].module.in`, "aws_subnet", "main"),
		created("", "aws_eip", `list["d.e"]`)))
	byName := map[string]*sdk.ResourceState{}
	for _, state := range at.states() {
		byName[state.Name] = state
	}
	require.Len(t, byName, 7)
	later := `module.later["c"]`
	for name, want := range map[string]struct {
		kind    string
		parents []string
	}{
		`module.net["a.b"].aws_vpc.main`:     {"aws_vpc", []string{byName[`module.net["a.b"]`].ID}},
		`module.net["a.b"].aws_vpc.old`:      {"aws_vpc", []string{byName[`module.net["a.b"]`].ID}},
		later + ".module.in.aws_subnet.main": {"aws_subnet", []string{byName[later+".module.in"].ID}},
		later + ".module.in":                 {"module", []string{byName[later].ID}},
		later:                                {"module", nil},
		`aws_eip.list["d.e"]`:                {"aws_eip", nil},
	} {
		require.Equal(t, want.kind, byName[name].Type, name)
		require.Equal(t, want.parents, byName[name].ParentIDs, name)
	}
}

func TestNoDriftIsOfAResourceThatTheLiveStateLeavesOut(t *testing.T) {
	t.Parallel()
	at := sightingOf(t, planOf("{}", created("", "x", "planned")))
	for i := range maxStates {
		at.tree = append(at.tree, resource.Resource{Address: fmt.Sprint("x.y", i), Type: "x"})
	}
	at.changes.Resources = append(at.changes.Resources, change.Resource{Address: "x.y7", Action: change.Update})
	seen := &sighting{at: []sightingAt{*at}}
	require.Len(t, seen.livestate().Resources, maxStates)
	drifts := seen.drifts()
	require.Len(t, drifts, 1)
	require.Equal(t, "here/x.y7", drifts[0].ResourceID)
}

func TestAModuleInWhichEverythingIsUnhealthyIsUnhealthy(t *testing.T) {
	t.Parallel()
	at := sightingOf(t, planOf(`{"child_modules": [
		{"address": "module.some", "resources": [
			{"address": "module.some.x.old", "mode": "managed", "type": "x", "name": "old"}]},
		{"address": "module.bad", "resources": [
			{"address": "module.bad.x.old", "mode": "managed", "type": "x", "name": "old", "tainted": true}]}]}`,
		created("module.some", "x", "new"), created("module.bad", "x", "new"),
		created("module.new.module.in", "x", "a"), created("module.new.module.in", "x", "b")))
	said := map[string]string{}
	for _, state := range at.states() {
		if state.Type == resource.Module {
			said[state.Name] = fmt.Sprint(state.Health == sdk.Unhealthy, " ", state.HealthDescription)
		}
	}
	const missing = "true is missing in the state"
	require.Equal(t, map[string]string{"module.some": "false ", "module.bad": "true all that it has is unhealthy",
		"module.new": missing, "module.new.module.in": missing}, said)
}

// Only a plan that has found a change since the last apply knows that someone has changed the resource.
func TestADriftSaysWhoHasChangedAFieldOnlyWhereThatIsKnown(t *testing.T) {
	t.Parallel()
	const head = `{"address": "x.a", "mode": "managed", "type": "x", "name": "a", "change": {"actions": ["update"], `
	at := sightingOf(t, `{"format_version": "1.2", "resource_drift": [`+head+`
			"before": {"size": 1, "both": "a", "same": "s"}, "after": {"size": 2, "both": "b", "same": "s"}}}],
		"resource_changes": [`+head+`
			"before": {"size": 2, "both": "b", "file": "old", "output": "old"},
			"after": {"size": 1, "both": "c", "file": "new"}, "after_unknown": {"output": true}}}]}`)
	require.Equal(t, []sdk.FieldDrift{
		{Path: "both", Git: `"c"`, Live: `"b"`, Applied: `"a"`, Change: sdk.ChangeBoth},
		{Path: "file", Git: `"new"`, Live: `"old"`},
		{Path: "output", Git: "(known after apply)", Live: `"old"`},
		{Path: "size", Git: "1", Live: "2", Applied: "1", Change: sdk.ChangeLive},
	}, at.drift(at.changes.Resources[0]).Fields)
}
