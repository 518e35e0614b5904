// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
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

func TestADeploymentEndsWhereNothingChanges(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := sdktest.Change{Target: w.commit("1111111111", "{}", web("v1"))}
	require.Equal(t, succeeded, w.run(apply, "", first).Status, "a quick sync")

	w = w.next()
	require.Equal(t, succeeded, w.run(plan, `{}`, first).Status)
	require.Equal(t, sdk.StageExited, w.run(plan, `{"exitOnNoChanges": true}`, first).Status)
	require.Contains(t, w.log(plan), "No changes")
}

func TestARollbackAppliesTheCommitBefore(t *testing.T) {
	t.Parallel()
	w := start(t)
	v1 := w.commit("1111111111", "{allowDestroy: always}", web("v1"))
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: v1}).Status)

	broken := web("v2")
	broken["broken.tf"] = `resource "terraform_data" "broken" {
  depends_on = [terraform_data.web]
  provisioner "local-exec" { command = "exit 3" }
}`
	change := sdktest.Change{Running: v1, Target: w.commit("2222222222", "{allowDestroy: always}", broken)}
	w = w.next()
	require.Equal(t, failed, w.run(apply, "", change).Status)
	require.Contains(t, w.log(apply), "exit status 3")
	require.Equal(t, 2, w.counted())

	require.Equal(t, succeeded, w.run(rollback, "", change).Status)
	require.Contains(t, w.log(rollback), "terraform_data.broken is destroyed")
	require.Equal(t, "v1", w.state("here").Outputs["version"].Value)
	require.Equal(t, 3, w.counted())
}
