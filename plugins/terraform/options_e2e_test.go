// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

// deployed is a world in which web v1 runs, and the change to v2, which replaces a resource.
func deployed(t *testing.T, app string) (*world, sdktest.Change) {
	t.Helper()
	w := start(t)
	c := w.commit("1111111111", app, web("v1"))
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: c}).Status)
	return w.next(), sdktest.Change{Running: c, Target: w.commit("2222222222", app, web("v2"))}
}

func TestWhatDestroysWaitsForAnApproval(t *testing.T) {
	t.Parallel()
	w, change := deployed(t, "{}")
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)
	require.Contains(t, w.log(plan), "-/+ terraform_data.web is replaced: triggers_replace cannot be changed in place")
	require.Contains(t, w.log(plan), `+     triggers_replace = ["v2"]  # replaces the resource`)

	ended := make(chan sdk.StageStatus, 1)
	go func() {
		outcome, err := w.Run(context.Background(), sdktest.Execution{Stage: apply, Options: `{"approvers": ["ann"]}`,
			Change: copied(t, change)})
		if err != nil {
			t.Log(err)
		}
		ended <- outcome.Status
	}()
	id := sdktest.StageID(apply)
	t.Cleanup(func() { w.Piped.Approve(id, "ann") })
	w.Piped.WaitLog(t, id, "Waiting for approval by ann, because the plan destroys terraform_data.web")
	waiting := func(value string) func() bool {
		return func() bool { return w.Piped.StageMetadata(id)[sdk.WaitingMetadataKey] == value }
	}
	require.Eventually(t, waiting(sdk.WaitingYes), time.Minute, 10*time.Millisecond)
	require.Equal(t, "destroys terraform_data.web", w.Piped.StageMetadata(id)[sdk.ApprovalSubjectMetadataKey])
	for _, stage := range []string{plan, apply} {
		var shown plannedChanges
		require.NoError(t, json.Unmarshal(
			[]byte(w.Piped.StageMetadata(sdktest.StageID(stage))[sdk.PlannedChangesMetadataKey]), &shown))
		require.Equal(t, "terraform_data.web", shown.Targets[0].Resources[0].Address, stage)
		require.EqualValues(t, "replace", shown.Targets[0].Resources[0].Action, stage)
	}
	w.Piped.Approve(id, "bob")
	w.Piped.WaitLog(t, id, "The approval by bob does not count")
	require.Equal(t, 1, w.counted())
	w.Piped.Approve(id, "ann")
	require.Equal(t, succeeded, <-ended)
	require.Equal(t, 2, w.counted())
	require.Equal(t, "ann", w.Piped.StageMetadata(id)[sdk.ApprovedUsersMetadataKey])
	require.True(t, waiting(sdk.WaitingNo)())
}

// Plans hold secrets, so that old ones are deleted; a decision may take longer.
func TestAPlanThatIsDeletedWhileAUserDecidesIsMadeAgain(t *testing.T) {
	t.Parallel()
	w, change := deployed(t, "{}")
	ended := make(chan sdktest.Outcome, 1)
	go func() { ended <- w.run(apply, "{}", change) }()
	id := sdktest.StageID(apply)
	t.Cleanup(func() { w.Piped.Approve(id, "ann") })
	w.Piped.WaitLog(t, id, "Waiting for approval")
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, plansName)))
	require.NoError(t, os.MkdirAll(filepath.Join(w.dir, plansName, sdktest.DeploymentID), 0o700))
	w.Piped.Approve(id, "ann")
	require.Equal(t, succeeded, (<-ended).Status)
	require.Contains(t, w.log(apply), "was deleted meanwhile, so it is made again")
	require.Equal(t, 2, w.counted())
}

func TestWhatMayNeverBeDestroyedIsRefused(t *testing.T) {
	t.Parallel()
	w, change := deployed(t, "{allowDestroy: never}")
	outcome := w.run(apply, "", change)
	require.Equal(t, failed, outcome.Status)
	require.Contains(t, outcome.Reason, "the plan destroys terraform_data.web, and allowDestroy is never")
	require.Equal(t, 1, w.counted())
	require.Equal(t, succeeded, w.run(apply, `{"allowDestroy": "always"}`, change).Status, "the stage's own counts")
	require.Equal(t, 2, w.counted())
}

func TestAWorkspaceIsCreatedOnRequest(t *testing.T) {
	t.Parallel()
	w := start(t)
	outcome := w.run(apply, "", sdktest.Change{Target: w.commit("1111111111", "{workspace: blue}", web("v1"))})
	require.Equal(t, failed, outcome.Status)
	require.Contains(t, outcome.Reason, "the workspace blue does not exist")
	require.Contains(t, outcome.Reason,
		"next step: set spec.plugins.terraform.createWorkspace: true in the application")

	c := w.commit("2222222222", "{workspace: blue, createWorkspace: true}", web("v1"))
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: c}).Status)
	require.FileExists(t, filepath.Join(w.dir, "states", sdktest.ApplicationID, "here", "workspaces", "blue",
		"terraform.tfstate"))
	requirePrivate(t, filepath.Join(w.dir, "states"))
}

// requirePrivate wants that no one else can read the files of states.
func requirePrivate(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.Contains(entry.Name(), ".tfstate") {
			return err
		}
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), path)
		return nil
	}))
}

// States hold secrets. What a user has given to others stays theirs.
func TestStatesOnThisMachineAreForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := w.commit("1111111111", "{allowDestroy: always}", web("v1"))
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: first}).Status)
	requirePrivate(t, filepath.Join(w.dir, "states"))
	state := filepath.Join(w.dir, "states", sdktest.ApplicationID, "here", "terraform.tfstate")
	require.NoError(t, os.Chmod(state, 0o640))

	w = w.next()
	second := w.commit("2222222222", "{allowDestroy: always}", web("v2"))
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Running: first, Target: second}).Status)
	info, err := os.Stat(state)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode().Perm())
	require.NoError(t, os.Chmod(state, 0o600))
	requirePrivate(t, filepath.Join(w.dir, "states"))
}

func TestVariablesFlagsAndEnvironmentReachTheCommands(t *testing.T) {
	t.Parallel()
	w := start(t)
	c := w.commit("1111111111", `{vars: ["a=app", "list=[1, 2]"], varFiles: [more.tfvars],
      commandFlags: {plan: ["-parallelism=3"]}, commandEnvs: {shared: ["TF_VAR_e=env"]}}`, map[string]string{
		"more.tfvars": `f = "file"`,
		"main.tf": `
variable "a" {}
variable "e" {}
variable "f" {}
variable "list" { type = list(number) }
output "all" { value = "${var.a} ${var.e} ${var.f} ${length(var.list)}" }
`})
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: c}).Status)
	require.Equal(t, "app env file 2", w.state("here").Outputs["all"].Value)
}

func TestAMissingVariableFailsAndNothingAsks(t *testing.T) {
	t.Parallel()
	w := start(t)
	c := w.commit("1111111111", "{}", map[string]string{"main.tf": `variable "name" {}`})
	outcome := w.run(plan, "{}", sdktest.Change{Target: c})
	require.Equal(t, failed, outcome.Status)
	require.Contains(t, outcome.Reason, "No value for required variable")
}

func TestEachDeployTargetHasItsStateAndItsVariables(t *testing.T) {
	t.Parallel()
	w := start(t, "east", "west")
	w.options.DeployTargets[0].Config = []byte(`{"vars": ["place=east"]}`)
	w.options.DeployTargets[1].Config = []byte(`{"vars": ["place=west"]}`)
	w = w.next()
	change := sdktest.Change{Target: w.commit("1111111111", "{}", map[string]string{"main.tf": `
variable "place" {}
output "place" { value = var.place }
`})}
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)
	require.Contains(t, w.log(plan), "[west] The plan: 1 output")
	require.Equal(t, succeeded, w.run(apply, "{}", change).Status)
	for _, name := range []string{"east", "west"} {
		require.Equal(t, name, w.state(name).Outputs["place"].Value)
	}
}

func TestAVersionThatTheProgramDoesNotHaveIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	old := w.commit("1111111111", `{terraformVersion: "0.13.0"}`, web("v1"))
	outcome := w.run(plan, "{}", sdktest.Change{Target: old})
	require.Equal(t, failed, outcome.Status)
	require.Regexp(t, `the program has version [\d.]+, and terraformVersion wants 0.13.0`, outcome.Reason)
	require.Equal(t, succeeded, w.run(plan, "{}", sdktest.Change{Target: w.commit("1111111111",
		`{terraformVersion: ">= 1.6, < 2"}`, web("v1"))}).Status)
}

func TestAVersionThatIsNotInstalledIsDownloaded(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(tofu(t))
	require.NoError(t, err)
	sum := sha256.Sum256(content)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	w := start(t)
	installed := filepath.Join(w.dir, "installed")
	require.NoError(t, os.WriteFile(installed, []byte("#!/bin/sh\necho '{\"terraform_version\": \"1.5.7\"}'\n"), 0o700))
	program := map[string]any{"version": "1.12.6", "url": server.URL, "sha256": strings.Repeat("0", 64)}
	w.options.Config = map[string]any{"binary": installed, "workDir": w.dir, "programs": []any{program}}
	w = w.next()
	change := sdktest.Change{Target: w.commit("1111111111", `{terraformVersion: ">= 1.6"}`, web("v1"))}
	outcome := w.run(plan, "{}", change)
	require.Equal(t, failed, outcome.Status)
	require.Contains(t, outcome.Reason, "its SHA-256 is "+hex.EncodeToString(sum[:]))

	program["sha256"] = hex.EncodeToString(sum[:])
	w = w.next()
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)
	require.Contains(t, w.log(plan), filepath.Join(w.dir, "programs", hex.EncodeToString(sum[:]), "tofu")+" 1.12.6")
	server.Close()
	require.Equal(t, succeeded, w.run(apply, "{}", change).Status, "it is kept")
}

// No log, no metadata and no answer has a sensitive value, whether a resource hands it on, an error prints it or a
// provisioner does.
func TestSensitiveValuesAreNowhere(t *testing.T) {
	t.Parallel()
	const secret, line, number = "correct-horse-battery", "staple-of-the-key", "47117777"
	w := start(t)
	change := sdktest.Change{Target: w.commit("1111111111", `{vars: ["password=`+secret+`", "pin=`+number+`"],
      commandEnvs: {shared: ["TF_VAR_key=begin-of-the-key\n`+line+`"]}}`, map[string]string{
		"main.tf": `
variable "password" { sensitive = true }
variable "key" { sensitive = true }
variable "pin" {
  type      = number
  sensitive = true
}
resource "terraform_data" "user" {
  input = { password = var.password, name = "ann", pin = var.pin }
}
resource "terraform_data" "noisy" {
  provisioner "local-exec" { command = "echo loud: $(cat file); cat key; exit 1" }
  depends_on = [terraform_data.user]
}
output "name" { value = terraform_data.user.output.name }
output "all" { value = terraform_data.user.output }
`, "file": secret, "key": line + "\n"})}
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)
	require.Equal(t, failed, w.run(apply, "{}", change).Status)
	require.Contains(t, w.log(apply), "loud: (sensitive value)")

	previews, err := w.Preview(t.Context(), copied(t, change))
	require.NoError(t, err)
	live, err := w.Livestate(t.Context(), copied(t, change).Target)
	require.NoError(t, err)
	planned := w.Piped.StageMetadata(sdktest.StageID(plan))[sdk.PlannedChangesMetadataKey]
	require.Contains(t, planned, "(sensitive value)")
	shown := []string{planned, w.log(plan), w.log(apply), fmt.Sprintf("%+v", previews), string(previews[0].Changes),
		fmt.Sprintf("%+v", *live.Sync),
		fmt.Sprintf("%+v %+v", w.Piped.StageMetadata(sdktest.StageID(apply)), w.Piped.DeploymentMetadata("terraform"))}
	for _, r := range live.Resources {
		shown = append(shown, fmt.Sprintf("%+v", *r))
	}
	for _, hidden := range []string{secret, line, number} {
		require.NotContains(t, strings.Join(shown, "\n"), hidden)
	}
	// The changes of a plan are in a file, without the secret; plans are for their owner alone.
	err = filepath.WalkDir(filepath.Join(w.dir, "plans"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), path)
		if strings.HasSuffix(path, ".json") {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotContains(t, string(data), secret)
		}
		return nil
	})
	require.NoError(t, err)
}
