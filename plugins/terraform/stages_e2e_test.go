// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

// web is a resource that counts its creations; it is replaced when its version changes.
func web(version string) map[string]string {
	return map[string]string{"main.tf": `
resource "terraform_data" "web" {
  triggers_replace = ["` + version + `"]
  provisioner "local-exec" { command = "echo ` + version + ` >> COUNT" }
}
resource "terraform_data" "settings" { input = "` + version + `" }
output "version" { value = terraform_data.settings.output }
`}
}

func TestAPlanIsShownAndAppliedOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := sdktest.Change{Target: w.commit("1111111111", "{}", web("v1"))}

	require.Equal(t, succeeded, w.run(plan, "{}", first).Status)
	require.Contains(t, w.log(plan), "+ terraform_data.web is created")
	require.Contains(t, w.log(plan), "2 to create, 1 output")
	require.Zero(t, w.counted(), "a plan changes nothing")

	require.Equal(t, succeeded, w.run(apply, "{}", first).Status)
	require.Equal(t, 1, w.counted())
	require.Equal(t, "v1", w.state("here").Outputs["version"].Value)

	require.Equal(t, succeeded, w.run(apply, "{}", first).Status, "the same stage again")
	require.Equal(t, 1, w.counted())
}

func TestAnApplyThatAUserRunsOnceMoreAppliesWhatIsLeftOfThePlan(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := sdktest.Change{Target: w.commit("1111111111", "{}", web("v1"))}
	require.Equal(t, succeeded, w.run(plan, "{}", first).Status)
	require.Equal(t, succeeded, w.run(apply, "{}", first).Status)
	again := func(e *sdktest.Execution) { e.Attempt, e.Run = e.Attempt+1, e.Attempt+1 }

	require.Equal(t, succeeded, w.run(apply, "{}", first, again).Status)
	require.Contains(t, w.log(apply), "Nothing is left: the earlier attempt had applied everything")
	require.Equal(t, 1, w.counted())

	w.tofu(t.Context(), "here", first.Target, "state", "rm", "terraform_data.web")
	require.Equal(t, succeeded, w.run(apply, "{}", first, again, again).Status)
	require.Equal(t, 2, w.counted())
}

// What a failed creation has left is replaced without an approval, and the log says why.
func TestAnApplyThatIsRunOnceMoreReplacesWhatItHasFailedToCreate(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := sdktest.Change{Target: w.commit("1111111111", "{}", map[string]string{"main.tf": `
resource "terraform_data" "web" {
  provisioner "local-exec" { command = "echo x >> COUNT; test $(wc -l < COUNT) -gt 1" }
}`})}
	require.Equal(t, succeeded, w.run(plan, "{}", first).Status)
	require.Equal(t, failed, w.run(apply, "{}", first).Status)
	again := func(e *sdktest.Execution) { e.Attempt, e.Run = 1, 1 }
	require.Equal(t, succeeded, w.run(apply, "{}", first, again).Status)
	require.Contains(t, w.log(apply), "Replaced without an approval, because this deployment has begun to create it "+
		"and its creation had failed: terraform_data.web")
	require.Equal(t, 2, w.counted())
}

func TestADeploymentEndsWhereNothingChanges(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := sdktest.Change{Target: w.commit("1111111111", "{}", web("v1"))}
	require.Equal(t, succeeded, w.run(apply, "", first).Status, "a quick sync")

	w = w.next()
	require.Equal(t, succeeded, w.run(plan, `{}`, first).Status)
	require.Equal(t, sdk.StageExited, w.run(plan, `{"exitOnNoChanges": true}`, first).Status)
	require.Contains(t, w.log(plan), "No changes")
	require.Empty(t, w.savedPlans())
}

// savedPlans are the names of files with plans, which hold secrets.
func (w *world) savedPlans() []string {
	w.t.Helper()
	var found []string
	require.NoError(w.t, filepath.WalkDir(w.dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == planEnd {
			found = append(found, filepath.Base(path))
		}
		return err
	}))
	return found
}

// Plans hold secrets: what ends a stage deletes those that no later one needs.
func TestNoPlanStaysBehindADeployment(t *testing.T) {
	t.Parallel()
	w := start(t)
	change := sdktest.Change{Target: w.commit("1111111111", "{}", map[string]string{"main.tf": `
resource "terraform_data" "web" {
  provisioner "local-exec" { command = "exit 3" }
}`})}
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)
	require.Equal(t, []string{"here.tfplan"}, w.savedPlans(), "it is applied later")
	require.Equal(t, failed, w.run(apply, "{}", change).Status)
	require.Empty(t, w.savedPlans(), "after a failure")

	change.Running = w.commit("0000000000", "{}", map[string]string{"main.tf": ""})
	require.Equal(t, succeeded, w.run(rollback, "", change).Status)
	require.Empty(t, w.savedPlans(), "after a rollback")

	broken := sdktest.Change{Target: w.commit("2222222222", "{}", map[string]string{"main.tf": `variable "x" {}`})}
	require.Equal(t, failed, w.run(plan, "{}", broken).Status)
	require.Empty(t, w.savedPlans(), "after a plan that fails")
	_, err := w.Preview(t.Context(), copied(t, broken))
	require.Error(t, err)
	require.Empty(t, w.savedPlans(), "after a look")

	good := sdktest.Change{Target: w.commit("3333333333", "{}", map[string]string{"main.tf": ""})}
	require.Equal(t, succeeded, w.run(plan, "{}", good).Status)
	require.Equal(t, []string{"here.tfplan"}, w.savedPlans())
	require.Equal(t, failed, w.run(rollback, "", good).Status, "there is no commit to return to")
	require.Empty(t, w.savedPlans(), "after a rollback that fails")
}

func TestTheLogHasTheWarningsOfAPlan(t *testing.T) {
	t.Parallel()
	w := start(t)
	change := sdktest.Change{Target: w.commit("1111111111", "{varFiles: [a.tfvars]}", map[string]string{
		"a.tfvars": `colour = "red"`,
		"main.tf": `
resource "terraform_data" "web" { input = "v1" }
check "web" {
  assert {
    condition     = terraform_data.web.input == "v2"
    error_message = "It is not v2."
  }
}
`})}
	for _, stage := range []string{plan, apply} {
		require.Equal(t, succeeded, w.run(stage, "{}", change).Status)
	}
	require.Contains(t, w.log(plan), "1 to create")
	require.Contains(t, w.log(plan), "Warning: Value for undeclared variable\n\nThe root module does not declare a "+
		"variable named \"colour\"")

	w = w.next()
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)
	require.Contains(t, w.log(plan), "The plan has no changes")
	require.Contains(t, w.log(plan), "Warning: Check block assertion failed")
	require.Contains(t, w.log(plan), "It is not v2.")
}
