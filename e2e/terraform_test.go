// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && platforms

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// terraformed is an environment with a repository of one application, whose provisioners append lines to a file.
type terraformed struct {
	*environment
	repo string
	// dir has the files count, where each line is a word, and the files that commands wait for.
	dir    string
	events *stream
}

// newTerraformed starts one with a configuration and a program in place of OpenTofu, which may use it; the plugin looks
// for drift at an interval. DIR and TOFU stand for what they say in both.
func newTerraformed(t *testing.T, configuration, program, interval string) *terraformed {
	t.Helper()
	w := &terraformed{environment: newEnvironment(t), dir: t.TempDir()}
	require.NotEmpty(t, os.Getenv("PIPEDECK_TOFU"), "run the story with: make e2e-platforms")
	named := strings.NewReplacer("DIR", w.dir, "TOFU", os.Getenv("PIPEDECK_TOFU")).Replace
	require.NoError(t, os.WriteFile(w.file("program"), []byte(named(program)), 0o700))
	require.NoError(t, os.WriteFile(w.file("plugin.yaml"), []byte("config:\n  binary: "+w.file("program")+
		"\n  driftInterval: "+interval+"\n  workDir: "+w.file("work")+"\ndeployTargets:\n- name: here\n"), 0o600))
	w.repo = repository(t, map[string]string{
		"infra/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: infra\n" +
			"  planner: {alwaysUsePipeline: true}\n  pipeline:\n    stages:\n    - name: TERRAFORM_PLAN\n" +
			"    - name: TERRAFORM_APPLY\n  plugins:\n    terraform: {allowDestroy: always}\n",
		"infra/main.tf": named(configuration),
	})
	w.events = w.start("up", w.repo, "--cluster", "none", "--plugin-config", "terraform="+w.file("plugin.yaml"))
	return w
}

func (w *terraformed) commit(configuration string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(filepath.Join(w.repo, "infra", "main.tf"),
		[]byte(strings.ReplaceAll(configuration, "DIR", w.dir)), 0o600))
	gittest.Commit(w.t, w.repo, "another version")
}

func (w *terraformed) file(name string) string { return filepath.Join(w.dir, name) }

// release lets the commands go on that wait for a file, hold has the next ones wait.
func (w *terraformed) release(name string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(w.file(name), nil, 0o600))
}

func (w *terraformed) hold(name string) {
	w.t.Helper()
	require.NoError(w.t, os.Remove(w.file(name)))
}

// counted are how often each line was counted.
func (w *terraformed) counted(line string) int {
	data, err := os.ReadFile(w.file("count"))
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(w.t, err)
	return strings.Count(string(data), line+"\n")
}

func (w *terraformed) awaitCount(line string, n int) {
	w.t.Helper()
	waitUntil(w.t, fmt.Sprintf("%q is counted %d times", line, n), func() bool { return w.counted(line) >= n })
}

// state is the file with the state of the application.
func (w *terraformed) state() string {
	w.t.Helper()
	states, err := filepath.Glob(w.file("work/states/*/here/terraform.tfstate"))
	require.NoError(w.t, err)
	require.Len(w.t, states, 1)
	return states[0]
}

const (
	// inSteps has a resource that waits while it is created. Another version replaces it.
	inSteps = `
resource "terraform_data" "first" {
  provisioner "local-exec" { command = "echo first >> DIR/count" }
}
resource "terraform_data" "second" {
  depends_on       = [terraform_data.first]
  triggers_replace = ["v1"]
  provisioner "local-exec" {
    command = "echo begun v1 >> DIR/count; until [ -e DIR/v1 ]; do sleep 0.1; done; echo second v1 >> DIR/count"
  }
}
`
	// failing is a version whose resource fails once it was created.
	failing = `
resource "terraform_data" "second" {
  triggers_replace = ["v2"]
  provisioner "local-exec" { command = "echo second v2 >> DIR/count; exit 1" }
}
`
	// inTime waits before each plan that a stage makes.
	inTime = `#!/bin/sh
case "$*" in
*-lock=false*) ;; # looks for drift
plan*) echo planning >> DIR/count; until [ -e DIR/plan ]; do sleep 0.1; done ;;
esac
exec TOFU "$@"
`
)

// The plugin or piped is killed in each stage: in the plan, in the apply and in the rollback. Each provisioner runs
// once each time that its resource is wanted.
func TestTerraformAppliesOnceWhoeverIsKilled(t *testing.T) {
	t.Parallel()
	for name, victim := range map[string]func(*terraformed) int{
		"the plugin": func(w *terraformed) int { return w.pluginPID("terraform") },
		"piped":      func(w *terraformed) int { return w.child("piped") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTerraformed(t, inSteps, inTime, "1s")
			kill := func() { require.NoError(t, syscall.Kill(victim(w), syscall.SIGKILL)) }

			w.awaitCount("planning", 1)
			kill()
			w.awaitCount("planning", 2)
			w.release("plan")

			w.awaitCount("begun v1", 1)
			kill()
			w.awaitCount("planning", 3) // what is left
			w.release("v1")
			w.events.await("the deployment", deployed("infra", "SUCCESS"))
			require.Equal(t, 1, w.counted("first"))
			require.Equal(t, 1, w.counted("second v1"))

			w.hold("v1")
			w.commit(failing)
			w.awaitCount("begun v1", 2)
			kill()
			w.awaitCount("planning", 6) // after those of the plan and of two attempts of the rollback
			w.release("v1")
			w.events.await("the second deployment", deployed("infra", "FAILURE"))
			require.Equal(t, 2, w.counted("first"), "it was destroyed, and came back")
			require.Equal(t, 1, w.counted("second v2"))
			require.Equal(t, 2, w.counted("second v1"))
		})
	}
}

// What no one reports is found at the next look, an interval later: an edit of the state, and another input.
func TestDriftOfTerraformIsFound(t *testing.T) {
	t.Parallel()
	w := newTerraformed(t, `
resource "terraform_data" "settings" { input = "of Git" }
resource "terraform_data" "file" { input = try(file("DIR/input"), "none") }
`, inTime, "1s")
	w.release("plan")
	w.events.await("the deployment", deployed("infra", "SUCCESS"))
	is := func(sync, reason string) func(event) bool {
		return func(e event) bool {
			text, _ := e["short_reason"].(string)
			return e.is("application", "name", "infra", "sync", sync) && strings.Contains(text, reason)
		}
	}
	w.events.await("no drift", is("SYNCED", ""))
	replaceIn(t, w.state(), "of Git", "by hand")
	w.events.await("drift by the edit", is("OUT_OF_SYNC", "1 to change"))
	require.NoError(t, os.WriteFile(w.file("input"), []byte("another"), 0o600))
	w.events.await("drift by the input", is("OUT_OF_SYNC", "2 to change"))
}

// looking counts the plans that look for drift.
const looking = `#!/bin/sh
case "$*" in plan*-lock=false*) echo look >> DIR/count ;; esac
exec TOFU "$@"
`

// A user does not wait for the interval: the key looks now, and the panes show what a plan would change. A state that
// cannot be read is the answer then, in words.
func TestAUserSeesTheDriftOfTerraformAtOnce(t *testing.T) {
	t.Parallel()
	w := newTerraformed(t, `resource "terraform_data" "settings" { input = "of Git" }`, looking, "1h")
	w.events.await("the deployment", deployed("infra", "SUCCESS"))
	w.events.await("the look after it", func(e event) bool {
		return e.is("application", "name", "infra", "sync", "SYNCED", "health", "HEALTHY")
	})
	ui := openTerminal(t, w.command("attach"), 130, 40)
	ui.sees(`synced`)
	as := w.counted("look")
	replaceIn(t, w.state(), "of Git", "by hand")
	ui.presses("D")
	ui.sees(`looked for drift in infra: [\d.]+m?s`)
	ui.sees(`out of sync`)
	require.Equal(t, as+1, w.counted("look"), "one look for the key")
	ui.presses("t")
	ui.sees(`≠ with the next apply, it is changed in place`)
	ui.sees(`input +of Git +by hand`)
	ui.sees(`Git and live differ`) // who has changed the state, or what Git reads, is not known
	ui.sees(`- input: by hand`)
	ui.sees(`\+ input: of Git`)

	content, err := os.ReadFile(w.state())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.state(), []byte("{"), 0o600))
	ui.presses("D")
	ui.sees(`cannot look for drift in infra: ask plugin terraform: .*plan failed: `)
	require.NoError(t, os.WriteFile(w.state(), []byte(strings.Replace(string(content), "by hand", "of Git", 1)), 0o600))
	ui.presses("D")
	ui.sees(`synced · healthy`)
	ui.loses(`≠`)
	ui.presses("\x03")
	require.Zero(t, ui.wait())
	require.True(t, ui.restored())
}

func TestTheSampleOfTerraformIsDeployedByCIAndLeavesNothing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	tofu, err := filepath.Abs(os.Getenv("PIPEDECK_TOFU"))
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(tofu, filepath.Join(bin, "tofu")))
	cmd := e.command("ci", "--sample", "terraform", "--cluster", "none")
	cmd.Env = append(cmd.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	result, err := drive.Run(cmd)
	require.NoError(t, err)
	require.Zero(t, result.Code, result.Stdout+result.Stderr)
	require.Contains(t, result.Stdout, "Apply complete! Resources: 3 added")
	e.leavesNothing()
}
