// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

func TestAPlanForAnotherStateIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	c := w.commit("1111111111", "{allowDestroy: always}", web("v1"))
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: c}).Status)

	w = w.next()
	change := sdktest.Change{Running: c, Target: w.commit("2222222222", "{allowDestroy: always}", web("v2"))}
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)
	w.tofu(t.Context(), "here", c, "apply", "-auto-approve", "-replace=terraform_data.settings")
	outcome := w.run(apply, "{}", change)
	require.Equal(t, failed, outcome.Status)
	require.Regexp(t, `the plan is stale: the state has changed since the plan was made \(serial \d+ then, \d+ now\)`,
		outcome.Reason)
	require.Contains(t, w.log(apply), "next step: deploy the commit again")
	require.Equal(t, 1, w.counted())
}

func TestAPlanForAnotherCommitIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := sdktest.Change{Target: w.commit("1111111111", "{}", web("v1"))}
	require.Equal(t, succeeded, w.run(plan, "{}", first).Status)
	outcome := w.run(apply, "{}", sdktest.Change{Target: w.commit("2222222222", "{}", web("v1"))})
	require.Equal(t, failed, outcome.Status)
	require.Contains(t, outcome.Reason, "it was made for commit 1111111, and this is 2222222")
	require.Zero(t, w.counted())
}

// Plans stay on the machine on which they were made. Elsewhere a new one must have the same changes.
func TestAPlanFromAnotherMachineIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	change := sdktest.Change{Target: w.commit("1111111111", "{}", web("v1"))}
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "plans")))
	require.Equal(t, succeeded, w.run(apply, "{}", change).Status)
	require.Contains(t, w.log(apply), "is not on this machine, so it is made again")
	require.Equal(t, 1, w.counted())

	w = w.next()
	file := filepath.Join(w.dir, "input")
	require.NoError(t, os.WriteFile(file, []byte("one"), 0o600))
	files := map[string]string{"main.tf": `resource "terraform_data" "file" { input = file("` + file + `") }`}
	change = sdktest.Change{Target: w.commit("2222222222", "{allowDestroy: always}", files)}
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "plans")))
	require.NoError(t, os.WriteFile(file, []byte("two"), 0o600))
	outcome := w.run(apply, "{}", change)
	require.Equal(t, failed, outcome.Status)
	require.Contains(t, outcome.Reason, "a new plan has other changes than the one that was shown")
}

// slow has a resource that takes until the file GO is there, and then another one.
func slow(w *world) map[string]string {
	// A test that fails must not wait for the program.
	w.t.Cleanup(func() { _ = os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600) })
	return map[string]string{"main.tf": strings.ReplaceAll(`
resource "terraform_data" "first" {
  provisioner "local-exec" { command = "echo first >> COUNT; until [ -e GO ]; do sleep 0.1; done" }
}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "echo second >> COUNT" }
}
`, "GO", filepath.Join(w.dir, "go"))}
}

// The program that a stage has interrupted ends what it has begun, and the next attempt does the rest: each provisioner
// runs once.
func TestACancelledApplyLeavesNoLockAndGoesOnLater(t *testing.T) {
	t.Parallel()
	w := start(t)
	change := sdktest.Change{Target: w.commit("1111111111", "{}", slow(w))}
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := w.Run(ctx, sdktest.Execution{Stage: apply, Options: "{}", Change: copied(t, change)})
		ended <- err
	}()
	require.Eventually(t, func() bool { return w.counted() == 1 }, time.Minute, 10*time.Millisecond)
	cancel()
	require.Error(t, <-ended)
	require.Eventually(t, func() bool { return strings.Contains(w.log(apply), "Interrupting the program") },
		time.Minute, 10*time.Millisecond)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))

	again := func(e *sdktest.Execution) { e.Attempt = 1 }
	require.Equal(t, succeeded, w.run(apply, "{}", change, again).Status, "it waits for the lock")
	require.Contains(t, w.log(apply), "An earlier attempt had begun to apply the plan")
	require.Len(t, w.state("here").Resources, 2)
	data, err := os.ReadFile(w.count())
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(data), "second"))
	require.NotContains(t, w.tofu(t.Context(), "here", change.Target, "plan", "-lock-timeout=0s"), "Error")
}

func TestOneThatHoldsTheLockIsNamed(t *testing.T) {
	t.Parallel()
	w := start(t)
	c := w.commit("1111111111", "{lockTimeout: 1s}", slow(w))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = w.Run(ctx, sdktest.Execution{Stage: apply, Change: copied(t, sdktest.Change{Target: c})})
	}()
	require.Eventually(t, func() bool { return w.counted() == 1 }, time.Minute, 10*time.Millisecond)
	outcome := w.run(plan, "{}", sdktest.Change{Target: c})
	require.Equal(t, failed, outcome.Status)
	require.Regexp(t, `plan: the state is locked by \S+@\S+ since .* for OperationTypeApply`, outcome.Reason)
	require.Contains(t, w.log(plan), "next step: wait for it to end, or set a longer lockTimeout")
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
	<-done
	cancel()
}

// The reason of a stage whose apply fails is the error of the program, and the log has its output once.
func TestTheReasonOfAFailedApplyIsTheErrorOfTheProgram(t *testing.T) {
	t.Parallel()
	w := start(t)
	outcome := w.run(apply, "", sdktest.Change{Target: w.commit("1111111111", "{}", map[string]string{
		"main.tf": "resource \"terraform_data\" \"first\" {\n  provisioner \"local-exec\" { command = \"echo boom; " +
			"exit 3\" }\n}\n",
	})})
	require.Equal(t, failed, outcome.Status)
	require.Equal(t, "apply failed: Error: local-exec provisioner error (main.tf:2): Error running command "+
		"'echo boom; exit 3': exit status 3. Output: boom", outcome.Reason)
	require.Equal(t, 1, strings.Count(w.log(apply), "terraform_data.first: Creating..."))
}

// hold has a person's program hold the lock of the state at the target "here" until release is called: it asks whether
// to apply something.
func (w *world) hold(c *sdktest.Commit) (release func()) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), tofu(w.t), "apply", "-no-color", "-replace=terraform_data.settings")
	cmd.Dir = w.person("here", c)
	asked, err := cmd.StdoutPipe()
	require.NoError(w.t, err)
	answer, err := cmd.StdinPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, cmd.Start())
	lines := bufio.NewScanner(asked)
	for lines.Scan() && !strings.Contains(lines.Text(), "Only 'yes' will be accepted") {
	}
	return sync.OnceFunc(func() {
		_, err := io.WriteString(answer, "no\n")
		require.NoError(w.t, err)
		_, _ = io.Copy(io.Discard, asked)
		_ = cmd.Wait() // the answer makes it fail
	})
}

// A stage that waits for a person says for whom, and goes on when that one is done.
func TestAStageThatWaitsForTheLockNamesItsOwnerAndGoesOn(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := w.commit("1111111111", "{}", web("v1"))
	require.Equal(t, succeeded, w.run(apply, "", sdktest.Change{Target: first}).Status)
	w = w.next()
	change := sdktest.Change{Running: first, Target: w.commit("2222222222", "{allowDestroy: always}", web("v2"))}
	for _, stage := range []string{plan, apply} {
		release := w.hold(first)
		t.Cleanup(release)
		ended := make(chan sdktest.Outcome, 1)
		go func() { ended <- w.run(stage, "{}", change) }()
		require.Eventually(t, func() bool { return strings.Contains(w.log(stage), "Waiting for the lock") },
			time.Minute, 10*time.Millisecond, stage)
		require.Regexp(t, `at most 5m0s \(lockTimeout\): locked by \S+@\S+ since .* for OperationTypeApply \(lock `,
			w.log(stage))
		require.Empty(t, ended)
		release()
		require.Equal(t, succeeded, (<-ended).Status, stage)
		require.NotContains(t, w.log(stage), "Error acquiring")
	}
	require.Equal(t, 2, w.counted())
}

// A stage that is cancelled while another person holds the lock has changed nothing: a rollback would undo what that
// person does, and has no commit to return to in a first deployment.
func TestACancelWhileAStageWaitsForTheLockLeavesNothingToRollBack(t *testing.T) {
	t.Parallel()
	w, change := deployed(t, "{allowDestroy: always}")
	require.Equal(t, succeeded, w.run(plan, "{}", change).Status)
	release := w.hold(change.Running)
	t.Cleanup(release)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := w.Run(ctx, sdktest.Execution{Stage: apply, Options: "{}", Change: copied(t, change)})
		ended <- err
	}()
	id := sdktest.StageID(apply)
	w.Piped.WaitLog(t, id, "Waiting for the lock")
	display := func() string { return w.Piped.StageMetadata(id)[sdk.DisplayMetadataKey] }
	w.Piped.Wait(t, "the text of the stage",
		func() bool { return strings.HasPrefix(display(), "Waiting for the lock") })
	w.Piped.WaitLog(t, id, "Acquiring state lock")
	cancel()
	require.Error(t, <-ended)
	w.Piped.Wait(t, "the end of the stage", func() bool { return w.Piped.Completed(id) })
	require.Empty(t, display(), "it does not wait any more")
	require.Contains(t, w.log(apply), "the stage was cancelled")

	release()
	w.tofu(t.Context(), "here", change.Running, "apply", "-auto-approve", "-replace=terraform_data.settings")
	serial := w.state("here").Serial
	for _, back := range []sdktest.Change{change, {Target: change.Target}} {
		outcome := w.run(rollback, "", back)
		require.Equal(t, succeeded, outcome.Status, outcome.Reason)
	}
	require.Contains(t, w.log(rollback), "Nothing to roll back: this deployment has changed nothing here")
	require.Equal(t, serial, w.state("here").Serial)
	require.Equal(t, 1, w.counted())
}

// What another person has done while a user decides is not undone: the deployment has changed nothing.
func TestARollbackLeavesAloneWhatOthersHaveChangedSinceThePlan(t *testing.T) {
	t.Parallel()
	w, change := deployed(t, "{}")
	ended := make(chan sdktest.Outcome, 1)
	go func() { ended <- w.run(apply, "{}", change) }()
	id := sdktest.StageID(apply)
	w.Piped.WaitLog(t, id, "Waiting for approval")
	w.tofu(t.Context(), "here", change.Running, "apply", "-auto-approve", "-replace=terraform_data.settings")
	serial := w.state("here").Serial
	w.Piped.Approve(id, "ann")
	outcome := <-ended
	require.Equal(t, failed, outcome.Status)
	require.Contains(t, outcome.Reason, "the plan is stale: the state has changed since the plan was made")
	require.Equal(t, succeeded, w.run(rollback, "", change).Status)
	require.Contains(t, w.log(rollback), "Nothing to roll back: this deployment has changed nothing here")
	require.Equal(t, serial, w.state("here").Serial)
	require.Equal(t, 1, w.counted())
}
