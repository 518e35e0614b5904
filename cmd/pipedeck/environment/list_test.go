// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/document"
)

// created returns an environment below a state directory.
func created(t *testing.T, stateDir, name string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.At(stateDir, name)
	require.NoError(t, err)
	require.NoError(t, w.Create())
	return w
}

func TestTheEnvironmentsOfAMachineAreListedWithTheirStates(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	running, killed := created(t, stateDir, "a-running"), created(t, stateDir, "b-killed")
	starting := created(t, stateDir, "c-starting")
	created(t, stateDir, "d-stopped")
	broken := created(t, stateDir, "e-broken")
	for _, w := range []*workspace.Workspace{running, starting} {
		lock, err := w.Acquire()
		require.NoError(t, err)
		t.Cleanup(func() { _ = lock.Release() })
	}
	at := time.Date(2026, 11, 24, 12, 0, 0, 5, time.UTC)
	for _, w := range []*workspace.Workspace{running, killed} {
		require.NoError(t, w.Publish(workspace.Running{PID: 7, Address: "127.0.0.1:9", StartedAt: at,
			Clusters: map[string]string{"west": "kind", "east": "embedded"}}))
		require.NoError(t, w.WritePipedConfig(workspace.PipedConfig{Address: "127.0.0.1:9",
			Repository: &workspace.Repository{Root: "/src/shop", Branch: "main"}}))
	}
	require.NoError(t, os.WriteFile(broken.Path("running.json"), []byte("{"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(stateDir, "file"), nil, 0o600))

	code, stdout, stderr := command(t.Context(), stateDir, "list", "-o", "json")
	require.Equal(t, exit.OK, code, stderr)
	var listed document.Environments
	clitest.Document(t, "environments", stdout, &listed)
	require.Len(t, listed.Environments, 5)
	for i, want := range []document.ListedEnvironment{
		{Name: "a-running", State: "RUNNING", PID: 7, Address: "127.0.0.1:9", Repository: "/src/shop"},
		{Name: "b-killed", State: "KILLED", Repository: "/src/shop"}, {Name: "c-starting", State: "STARTING"},
		{Name: "d-stopped", State: "STOPPED"}, {Name: "e-broken", State: "UNREADABLE"},
	} {
		got := listed.Environments[i]
		require.Equal(t, want, document.ListedEnvironment{Name: got.Name, State: got.State, PID: got.PID,
			Address: got.Address, Repository: got.Repository})
	}
	require.Equal(t, "2026-11-24T12:00:00.000000005Z", listed.Environments[0].Since)
	require.Equal(t, []document.ListedCluster{{Name: "east", Kind: "embedded"}, {Name: "west", Kind: "kind"}},
		listed.Environments[1].Clusters)
	require.NotZero(t, listed.Environments[0].Bytes)
	require.Contains(t, listed.Environments[4].Reason, "running.json")

	_, stdout, _ = command(t.Context(), stateDir, "list")
	require.Regexp(t, `a-running +RUNNING +east=embedded,west=kind +/src/shop +127\.0\.0\.1:9`, stdout)
	_, stdout, _ = command(t.Context(), stateDir, "list", "-o", "name")
	require.Equal(t, "a-running\nb-killed\nc-starting\nd-stopped\ne-broken\n", stdout)
}

func TestTheRepositoryOfALiveEnvironmentIsListed(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	for name, c := range map[string]struct {
		arguments []string
		want      func(w *workspace.Workspace) string
	}{
		"here":      {[]string{"--live", "--"}, func(*workspace.Workspace) string { return "/src" }},
		"elsewhere": {[]string{"--live", "--", "app"}, func(*workspace.Workspace) string { return "/src/app" }},
		"sample": {[]string{"--live", "--sample=hello-world", "--"},
			func(w *workspace.Workspace) string { return w.SampleRepository() }},
	} {
		w := created(t, stateDir, name)
		require.NoError(t, w.WritePipedConfig(workspace.PipedConfig{Address: "127.0.0.1:9", Snapshots: w.Snapshots(),
			Repository: &workspace.Repository{Root: "/src", Branch: "main"}}))
		require.NoError(t, w.Publish(workspace.Running{PID: 7, Address: "127.0.0.1:9", Live: true,
			Restart: &workspace.Restart{Directory: "/src", Arguments: c.arguments}}))
		require.Equal(t, c.want(w), examine(w).Repository, name)
	}
}

func TestAListOfNoEnvironmentIsEmpty(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	code, stdout, stderr := command(t.Context(), dir, "list", "-o", "json")
	require.Equal(t, exit.OK, code)
	var listed document.Environments
	clitest.Document(t, "environments", stdout, &listed)
	require.Empty(t, stderr)
	_, stdout, stderr = command(t.Context(), dir, "list")
	require.Empty(t, stdout)
	require.Contains(t, stderr, "start one with: pipedeck up")
	require.NoDirExists(t, dir)
}

func TestDownSaysWhatHasBecomeOfEachEnvironment(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	created(t, stateDir, "a")
	created(t, stateDir, "b")
	down := func(args ...string) (gone document.Removal) {
		code, stdout, stderr := command(t.Context(), stateDir, append([]string{"down", "-o", "json"}, args...)...)
		require.Equal(t, exit.OK, code, stderr)
		clitest.Document(t, "removal", stdout, &gone)
		return gone
	}
	require.Equal(t, []document.RemovedEnvironment{{Name: "x", State: "NOT_EXISTING"}},
		down("--name", "x").Environments)
	require.Equal(t, []document.RemovedEnvironment{{Name: "a", State: "REMOVED"}, {Name: "b", State: "REMOVED"}},
		down("--all").Environments)
	require.Empty(t, down("--all").Environments)
}
