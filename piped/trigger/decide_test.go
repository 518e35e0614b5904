// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
)

func TestDriftCallsForADeploymentAfterTheWindow(t *testing.T) {
	t.Parallel()
	now := time.Unix(10_000, 0)
	on := config.OnOutOfSync{MinWindow: config.Duration(5 * time.Minute)}
	drifted := &model.ApplicationSyncState{Status: model.ApplicationSyncStatus_OUT_OF_SYNC}
	ended := func(ago time.Duration) *model.Deployment { return &model.Deployment{CompletedAt: now.Add(-ago).Unix()} }
	for name, test := range map[string]struct {
		rule  config.OnOutOfSync
		state *model.ApplicationSyncState
		last  *model.Deployment
		due   bool
		later time.Time
	}{
		"never deployed":    {rule: on, state: drifted, due: true},
		"deployed long ago": {rule: on, state: drifted, last: ended(5 * time.Minute), due: true},
		"deployed a minute ago": {
			rule: on, state: drifted, last: ended(time.Minute), later: now.Add(4 * time.Minute),
		},
		"being deployed": {rule: on, state: drifted, last: &model.Deployment{}},
		"in sync": {
			rule: on, state: &model.ApplicationSyncState{Status: model.ApplicationSyncStatus_SYNCED},
		},
		"in an unknown state":            {rule: on},
		"disabled, which is the default": {rule: config.OnOutOfSync{Disabled: true}, state: drifted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			due, later := dueOnOutOfSync(test.rule, test.state, test.last, now)
			require.Equal(t, test.due, due)
			require.Equal(t, test.later, later)
		})
	}
}

func TestCommitsHaveAnAddress(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"git@github.com:org/repo.git":               "https://github.com/org/repo/commit/abc",
		"ssh://git@host.example:2222/org/repo.git":  "https://host.example/org/repo/commit/abc",
		"https://user:secret@host.example/org/repo": "https://host.example/org/repo/commit/abc",
		"http://host.example:8080/org/repo.git/":    "http://host.example:8080/org/repo/commit/abc",
		"file:///home/ada/apps":                     "file:///home/ada/apps/commit/abc",
		"/home/ada/apps":                            "file:///home/ada/apps/commit/abc",
		"git://host.example/repo":                   "https://host.example/repo/commit/abc",
		"odd://host.example/repo":                   "",
		"https://host.example":                      "",
	} {
		require.Equal(t, want, commitURL(remote, "abc"), remote)
	}
}

func TestDeploymentsOfBareCommitsAreAccepted(t *testing.T) {
	t.Parallel()
	a := &model.Application{
		Id: "a", Name: "web",
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "r"}, Path: "./"},
	}
	d, err := Draft{
		Application: a, Config: &config.Application{}, Head: git.Commit{Hash: "abc"}, Branch: "main", Remote: "/r",
		ProjectID: "dev", PipedID: "piped", Now: time.Unix(1, 0),
	}.Deployment()
	require.NoError(t, err)
	require.NoError(t, d.ValidateAll(), "neither message nor author nor time")
}

func TestABrokenConfigurationStillGivesAName(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"kind: Application\nspec:\n  name: web # the shop\n  timeout: [": "web",
		"spec:\n  name: \"web shop\"\n":                                  "web shop",
		"spec:\n    name:   web\n":                                       "web",
		"spec:\n  pipeline:\n    stages:\n      - name: WAIT\n":          "dir",
		"\x00\x01": "dir",
		"":         "dir",
	} {
		require.Equal(t, want, guessName([]byte(data), "apps/dir"), "%q", data)
	}
	require.Equal(t, "application", guessName(nil, "."))
}
