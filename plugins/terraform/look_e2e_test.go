// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

func (w *world) livestate(c *sdktest.Commit) *sdk.Livestate {
	w.t.Helper()
	live, err := w.Livestate(w.t.Context(), copied(w.t, sdktest.Change{Target: c}).Target)
	require.NoError(w.t, err)
	require.NotNil(w.t, live.Sync)
	return live
}

func TestAPreviewShowsThePlanAndChangesNothing(t *testing.T) {
	t.Parallel()
	w, change := deployed(t, "{}")
	before := w.state("here")
	previews, err := w.Preview(t.Context(), copied(t, change))
	require.NoError(t, err)
	require.Len(t, previews, 1)
	require.Equal(t, "1 to change, 1 to replace, 1 output", previews[0].Summary)
	require.Contains(t, previews[0].Details,
		"-/+ terraform_data.web is replaced: triggers_replace cannot be changed in place")
	require.Contains(t, previews[0].Details, "-     input = \"v1\"\n+     input = \"v2\"\n")
	require.Contains(t, string(previews[0].Changes), `{"address":"terraform_data.web","action":"replace",`)
	require.Equal(t, before, w.state("here"))

	same, err := w.Preview(t.Context(), copied(t, sdktest.Change{Target: change.Running}))
	require.NoError(t, err)
	require.True(t, same[0].NoChange)
	require.Empty(t, same[0].Details)
}

// inModules is an application whose resources are in a module.
func inModules() map[string]string {
	return map[string]string{
		"main.tf": `
module "site" {
  source = "./site"
  count  = 1
}
resource "terraform_data" "top" { input = "top" }
`,
		"site/main.tf": `resource "terraform_data" "page" { input = "page" }`,
	}
}

func TestTheLiveStateIsATreeOfModules(t *testing.T) {
	t.Parallel()
	w := start(t)
	c := w.commit("1111111111", "{}", inModules())
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: c}).Status)
	live := w.livestate(c)
	require.Equal(t, sdk.Synced, live.Sync.Status)
	byName := map[string]*sdk.ResourceState{}
	for _, r := range live.Resources {
		byName[r.Name] = r
	}
	require.Len(t, byName, 3)
	require.Empty(t, byName["terraform_data.top"].ParentIDs)
	page := byName["module.site[0].terraform_data.page"]
	require.Equal(t, []string{byName["module.site[0]"].ID}, page.ParentIDs)
	require.Equal(t, "terraform_data", page.Type)
	require.NotEmpty(t, page.Metadata["id"])
}

func TestDriftIsAnEditOfTheStateOrAnInputThatChanged(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.options.Config = map[string]any{"binary": tofu(t), "workDir": w.dir, "driftInterval": "1ns"}
	w = w.next()
	input := filepath.Join(w.dir, "input")
	require.NoError(t, os.WriteFile(input, []byte("one"), 0o600))
	c := w.commit("1111111111", "{}", map[string]string{"main.tf": `
resource "terraform_data" "settings" { input = "v1" }
resource "terraform_data" "file" { input = file("` + input + `") }
`})
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: c}).Status)
	require.Equal(t, sdk.Synced, w.livestate(c).Sync.Status)

	path := filepath.Join(w.dir, "states", sdktest.ApplicationID, "here", "terraform.tfstate")
	state, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(state), `"v1"`, `"by hand"`)), 0o600))
	live := w.livestate(c)
	require.Equal(t, sdk.OutOfSync, live.Sync.Status)
	require.Equal(t, "A plan has changes: 1 to change", live.Sync.ShortReason)
	require.Contains(t, live.Sync.Reason, "-     input = \"by hand\"\n+     input = \"v1\"\n")

	require.NoError(t, os.WriteFile(input, []byte("two"), 0o600))
	require.Equal(t, "A plan has changes: 2 to change", w.livestate(c).Sync.ShortReason)
}

// A look at a state that is known takes one command: nothing is initialised, and nothing is read.
func TestALookAtAKnownStateIsOnePlan(t *testing.T) {
	t.Parallel()
	w := start(t)
	commands := filepath.Join(w.dir, "commands")
	counting := filepath.Join(w.dir, "counting")
	require.NoError(t, os.WriteFile(counting, []byte("#!/bin/sh\necho $1 >> "+commands+"\nexec "+tofu(t)+" \"$@\"\n"),
		0o700))
	w.options.Config = map[string]any{"binary": counting, "workDir": w.dir, "driftInterval": "1ns"}
	w = w.next()
	c := w.commit("1111111111", "{}", inModules())
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: c}).Status)
	first := ids(w.livestate(c))
	require.Len(t, first, 3)
	require.NoError(t, os.Remove(commands))
	for range 3 {
		require.Equal(t, first, ids(w.livestate(c)))
	}
	data, err := os.ReadFile(commands)
	require.NoError(t, err)
	require.Equal(t, "plan\nplan\nplan\n", string(data))

	w.tofu(t.Context(), "here", c, "apply", "-auto-approve", "-replace=terraform_data.top")
	require.NotEqual(t, first, ids(w.livestate(c)))
}

// ids are the resources by name with what the provider calls them.
func ids(live *sdk.Livestate) map[string]string {
	all := map[string]string{}
	for _, r := range live.Resources {
		all[r.Name] = r.Metadata["id"]
	}
	return all
}

func TestALookIsKeptUntilAStageChangesSomething(t *testing.T) {
	t.Parallel()
	w := start(t)
	c := w.commit("1111111111", "{}", web("v1"))
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: c}).Status)
	require.Equal(t, sdk.Synced, w.livestate(c).Sync.Status)
	ready := w.ready()
	path := filepath.Join(w.dir, "states", sdktest.ApplicationID, "here", "terraform.tfstate")
	state, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(state), `"v1"`, `"by hand"`)), 0o600))
	require.Equal(t, sdk.Synced, w.livestate(c).Sync.Status, "within the interval")

	drifts, err := w.Drift(t.Context(), copied(t, sdktest.Change{Target: c}).Target, nil)
	require.NoError(t, err)
	require.Empty(t, drifts)

	w = w.next() // which has seen nothing
	require.Equal(t, sdk.OutOfSync, w.livestate(c).Sync.Status)
	drifts, err = w.Drift(t.Context(), copied(t, sdktest.Change{Target: c}).Target, nil)
	require.NoError(t, err)
	require.Len(t, drifts, 2)
	require.Equal(t, "here/terraform_data.settings", drifts[0].ResourceID)
	require.Equal(t, sdk.FieldDrift{Path: "input", Git: `"v1"`, Live: `"by hand"`}, drifts[0].Fields[0],
		"the state does not say who has changed it")
	require.Equal(t, ready, w.ready(), "nothing is initialised again")

	again := sdktest.Change{Running: c, Target: c}
	require.Equal(t, succeeded, w.run(apply, `{"allowDestroy": "always"}`, again).Status)
	require.Equal(t, sdk.Synced, w.livestate(c).Sync.Status)
}

// ready is when the data directory for drift was initialised.
func (w *world) ready() time.Time {
	w.t.Helper()
	info, err := os.Stat(filepath.Join(w.dir, "data", "drift", sdktest.ApplicationID, "here", "pipedeck-ready"))
	require.NoError(w.t, err)
	return info.ModTime()
}

// pipedeck diff shows the resources that have a drift.
func TestTheLiveStateHasWhatAnApplyWouldDo(t *testing.T) {
	t.Parallel()
	w := start(t)
	resource := func(name, input string) string {
		return "resource \"terraform_data\" \"" + name + "\" { input = \"" + input + "\" }\n"
	}
	const module = "module \"net\" {\n  source   = \"./net\"\n  for_each = toset([\"a.b\"])\n}\n"
	deployed := w.commit("1111111111", "{}", map[string]string{"net/main.tf": resource("one", "1"),
		"main.tf": module + resource("old", "1") + resource("kept", "1")})
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: deployed}).Status)
	next := w.commit("2222222222", "{}", map[string]string{"net/main.tf": resource("one", "1") + resource("two", "1"),
		"main.tf": module + resource("kept", "2") + resource("new", "1")})
	drifts, byName := map[string]string{}, map[string]*sdk.ResourceState{}
	for _, r := range w.livestate(next).Resources {
		drifts[r.Name], byName[r.Name] = r.Metadata["Drift"], r
	}
	require.Len(t, drifts, 6)
	two := byName[`module.net["a.b"].terraform_data.two`]
	require.Equal(t, "terraform_data", two.Type)
	require.Equal(t, []string{byName[`module.net["a.b"]`].ID}, two.ParentIDs)
	require.Equal(t, "with the next apply, it is changed in place", drifts["terraform_data.kept"])
	require.Equal(t, "with the next apply, it is created", drifts["terraform_data.new"])
	require.Contains(t, drifts["terraform_data.old"], "with the next apply, it is destroyed")
}

// A plan of a part finds nothing to do there, although other resources do not exist.
func TestALookWithFlagsThatNarrowThePlanDoesNotClaimThatAllIsInSync(t *testing.T) {
	t.Parallel()
	w := start(t)
	files := map[string]string{"main.tf": `
resource "terraform_data" "a" { input = "1" }
resource "terraform_data" "b" { input = "1" }
`}
	c := w.commit("1111111111", `{commandFlags: {plan: ["-target=terraform_data.a"]}}`, files)
	live := w.livestate(c)
	require.Equal(t, sdk.OutOfSync, live.Sync.Status)
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: c}).Status)
	live = w.livestate(c)
	require.Equal(t, sdk.SyncUnknown, live.Sync.Status)
	require.Equal(t, "commandFlags.plan has -target, so that a plan does not compare all of the configuration with "+
		"the state", live.Sync.ShortReason)
}
