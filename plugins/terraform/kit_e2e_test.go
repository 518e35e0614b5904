// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
	"github.com/pipedeck/pipedeck/plugins/terraform/command"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
)

// tofuVariable names the program of the tests; make e2e-platforms builds it.
const tofuVariable = "PIPEDECK_TOFU"

// world is the plugin with a real program and its own folder.
type world struct {
	*sdktest.Harness
	t testing.TB
	// dir has the state of the application and the file that its provisioners count in.
	dir     string
	options sdktest.Options
}

func TestMain(m *testing.M) {
	command.Apart()
	os.Exit(m.Run())
}

func tofu(t testing.TB) string {
	t.Helper()
	program := os.Getenv(tofuVariable)
	if program == "" {
		t.Fatalf("%s is not set\nnext step: make e2e-platforms", tofuVariable)
	}
	return program
}

// start starts the plugin with these deploy targets, by default one.
func start(t testing.TB, targets ...string) *world {
	t.Helper()
	dir := t.TempDir()
	if len(targets) == 0 {
		targets = []string{"here"}
	}
	options := sdktest.Options{Name: "terraform", Config: map[string]any{"binary": tofu(t), "workDir": dir}}
	for _, name := range targets {
		options.DeployTargets = append(options.DeployTargets, sdk.DeployTargetConfig{Name: name})
	}
	return &world{Harness: sdktest.Start(t, sdk.ForDeployment(newPlugin()), options), t: t, dir: dir, options: options}
}

// next is the world at the next deployment: its stages know nothing of those before.
func (w *world) next() *world {
	w.t.Helper()
	require.NoError(w.t, w.Stop())
	next := *w
	next.Harness = sdktest.Start(w.t, sdk.ForDeployment(newPlugin()), w.options)
	return &next
}

// commit writes the application with this configuration of the plugin and these files, for which COUNT is the file that
// provisioners count in.
func (w *world) commit(hash, app string, files map[string]string) *sdktest.Commit {
	w.t.Helper()
	all := map[string]string{sdktest.ConfigFilename: "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n" +
		"  name: demo\n  plugins:\n    terraform: " + app + "\n"}
	for name, content := range files {
		all[name] = strings.ReplaceAll(content, "COUNT", w.count())
	}
	return sdktest.WriteCommit(w.t, hash, all)
}

// count is the file to which provisioners append a line each.
func (w *world) count() string { return filepath.Join(w.dir, "count") }

func (w *world) counted() int {
	data, err := os.ReadFile(w.count())
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(w.t, err)
	return strings.Count(string(data), "\n")
}

// run executes a stage of a change to its end.
func (w *world) run(stage, options string, change sdktest.Change, more ...func(*sdktest.Execution)) sdktest.Outcome {
	w.t.Helper()
	execution := sdktest.Execution{Stage: stage, Options: options, Change: copied(w.t, change)}
	for _, f := range more {
		f(&execution)
	}
	outcome, err := w.Run(w.t.Context(), execution)
	require.NoError(w.t, err)
	return outcome
}

// copied gives the stage its own directories, as piped does.
func copied(t testing.TB, change sdktest.Change) sdktest.Change {
	t.Helper()
	own := func(c *sdktest.Commit) *sdktest.Commit {
		if c == nil {
			return nil
		}
		dir := filepath.Join(t.TempDir(), "app")
		require.NoError(t, os.CopyFS(dir, os.DirFS(c.Dir)))
		return &sdktest.Commit{Hash: c.Hash, Dir: dir, Config: c.Config}
	}
	return sdktest.Change{Running: own(change.Running), Target: own(change.Target)}
}

func (w *world) log(stage string) string { return w.Piped.Log(sdktest.StageID(stage)) }

// state is the state of the application at a deploy target.
func (w *world) state(target string) (state struct {
	Serial    int
	Resources []struct{ Name string }
	Outputs   map[string]struct{ Value any }
}) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "states", sdktest.ApplicationID, target, "terraform.tfstate"))
	require.NoError(w.t, err)
	require.NoError(w.t, json.Unmarshal(data, &state))
	return state
}

// tofu runs the program in its own directory with the state of a deploy target, as a person would.
func (w *world) tofu(ctx context.Context, target string, c *sdktest.Commit, args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(ctx, tofu(w.t), args...)
	cmd.Dir = w.person(target, c)
	output, err := cmd.CombinedOutput()
	require.NoError(w.t, err, string(output))
	return string(output)
}

// person is the directory of a person who works with the state of a deploy target.
func (w *world) person(target string, c *sdktest.Commit) string {
	w.t.Helper()
	dir := copied(w.t, sdktest.Change{Target: c}).Target.Dir
	path := filepath.Join(w.dir, "states", sdktest.ApplicationID, target, "terraform.tfstate")
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, "place_override.tf"),
		[]byte("terraform {\n  backend \"local\" {\n    path = \""+path+"\"\n  }\n}\n"), 0o600))
	cmd := exec.CommandContext(w.t.Context(), tofu(w.t), "init", "-input=false")
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	require.NoError(w.t, err, string(output))
	return dir
}

const (
	plan, apply, rollback = config.StagePlan, config.StageApply, config.StageRollback
	succeeded, failed     = sdk.StageSuccess, sdk.StageFailure
)
