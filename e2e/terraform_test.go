// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && platforms

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
)

// terraformed is an environment with a repository of one application, whose provisioners append lines to a file.
// In its configuration, COUNT is that file, and GO one that a provisioner can wait for.
type terraformed struct {
	*environment
	repo, count, goes string
	events            *stream
}

func newTerraformed(t *testing.T, configuration string) *terraformed {
	t.Helper()
	dir := t.TempDir()
	w := &terraformed{environment: newEnvironment(t), count: filepath.Join(dir, "count"),
		goes: filepath.Join(dir, "go")}
	require.NotEmpty(t, os.Getenv("PIPEDECK_TOFU"), "run the story with: make e2e-platforms")
	options := filepath.Join(dir, "plugin.yaml")
	require.NoError(t, os.WriteFile(options, []byte("config:\n  binary: "+os.Getenv("PIPEDECK_TOFU")+"\n  workDir: "+
		filepath.Join(dir, "work")+"\ndeployTargets:\n- name: here\n"), 0o600))
	w.repo = repository(t, map[string]string{
		"infra/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: infra\n" +
			"  planner: {alwaysUsePipeline: true}\n  pipeline:\n    stages:\n    - name: TERRAFORM_PLAN\n" +
			"    - name: TERRAFORM_APPLY\n",
		"infra/main.tf": strings.NewReplacer("COUNT", w.count, "GO", w.goes).Replace(configuration),
	})
	w.events = w.start("up", w.repo, "--cluster", "none", "--plugin-config", "terraform="+options)
	return w
}

// counted are how often each word was counted.
func (w *terraformed) counted(word string) int {
	data, err := os.ReadFile(w.count)
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(w.t, err)
	return strings.Count(string(data), word+"\n")
}

const slowly = `
resource "terraform_data" "first" {
  provisioner "local-exec" { command = "echo first >> COUNT" }
}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "echo begun >> COUNT; until [ -e GO ]; do sleep 0.1; done; echo second >> COUNT"
  }
}
`

func TestTerraformAppliesOnceWhoeverIsKilled(t *testing.T) {
	t.Parallel()
	for name, victim := range map[string]func(*terraformed) int{
		"the plugin": func(w *terraformed) int { return w.pluginPID("terraform") },
		"piped":      func(w *terraformed) int { return w.child("piped") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTerraformed(t, slowly)
			waitUntil(t, "the apply is in its second resource", func() bool { return w.counted("begun") == 1 })
			require.NoError(t, syscall.Kill(victim(w), syscall.SIGKILL))
			w.events.await("the next attempt", func(e event) bool {
				text, _ := e["text"].(string)
				return strings.HasPrefix(text, "An earlier attempt had begun to apply the plan")
			})
			require.NoError(t, os.WriteFile(w.goes, nil, 0o600))
			w.events.await("the deployment", deployed("infra", "SUCCESS"))
			require.Equal(t, 1, w.counted("first"))
			require.Equal(t, 1, w.counted("second"))
		})
	}
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
