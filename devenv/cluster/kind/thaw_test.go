// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

func TestOnlyTheControlGroupsOfTheNodesAreThawed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	freeze := map[string]string{
		"system.slice/docker-abc.scope/cgroup.freeze":                 "0",
		"system.slice/docker-abc.scope/kubelet/pod one/cgroup.freeze": "0",
		"system.slice/docker-other.scope/cgroup.freeze":               "1",
		"freezer/docker/def/kubepods/freezer.state":                   "THAWED",
		"freezer/docker/other/freezer.state":                          "FROZEN",
	}
	for name := range freeze {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		state := "1"
		if strings.HasSuffix(name, "state") {
			state = "FROZEN"
		}
		require.NoError(t, os.WriteFile(path, []byte(state), 0o600))
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", thawScript, "thaw", root, "abc", "def").CombinedOutput()
	require.NoError(t, err, string(out))
	for name, want := range freeze {
		got, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.Equal(t, want, strings.TrimSpace(string(got)), name)
	}
}

// wedged is an engine that cannot remove a container whose control group is frozen; its `run` runs the script as it is,
// on control groups that are files.
func wedged(t *testing.T, thawable bool) (*engineCommand, string) {
	t.Helper()
	dir := t.TempDir()
	group := filepath.Join(dir, "groups", "docker-abc", "pod")
	require.NoError(t, os.MkdirAll(group, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(group, "cgroup.freeze"), []byte("1\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "node"), nil, 0o600))
	thaw := `while [ "$1" != sh ]; do shift; done; shift 2; script=$2; shift 4; ` +
		`exec sh -c "$script" thaw "$dir/groups" "$@"`
	if !thawable {
		thaw = `echo "no privileged containers here" >&2; exit 1`
	}
	script := `#!/bin/sh
dir=` + dir + `
case $1 in
ps) if [ -e "$dir/node" ]; then echo demo-control-plane; fi;;
inspect) echo abc kindest/node:v1;;
rm) if [ "$(cat "$dir/groups/docker-abc/pod/cgroup.freeze")" = 1 ]; then
  echo "tried to kill container, but did not receive an exit event" >&2; exit 1
fi; rm "$dir/node";;
run) ` + thaw + `;;
*) exit 9;;
esac
`
	program := filepath.Join(dir, "engine")
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700)) //nolint:gosec // a program
	return &engineCommand{program}, filepath.Join(dir, "node")
}

func TestANodeWithAFrozenPodIsThawedAndRemoved(t *testing.T) {
	t.Parallel()
	engine, node := wedged(t, true)
	require.NoError(t, engine.removeNodes(t.Context(), "demo"))
	require.NoFileExists(t, node)
}

func TestANodeThatCannotBeThawedIsNamedWithTheCommandThatDoes(t *testing.T) {
	t.Parallel()
	engine, _ := wedged(t, false)
	err := engine.removeNodes(t.Context(), "demo")
	require.ErrorContains(t, err, "did not receive an exit event")
	require.ErrorContains(t, err, "no privileged containers here")
	var hint *cluster.HintError
	require.True(t, errors.As(err, &hint))
	require.Contains(t, hint.Hint, engine.name+" run --rm --privileged")
	require.Contains(t, hint.Hint, engine.name+" rm -f -v demo-control-plane")
	// The line is one that a shell takes.
	line, _, _ := strings.Cut(strings.TrimPrefix(hint.Hint, "run "), ", or restart")
	out, err := exec.CommandContext(t.Context(), "sh", "-n", "-c", line).CombinedOutput()
	require.NoError(t, err, string(out))
}
