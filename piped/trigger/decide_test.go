// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
)

func TestACommitCallsForADeploymentWhenItTouchesTheApplication(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rule  config.OnCommit
		dir   string
		files []string
		want  string // the reason; empty for no deployment
	}{
		"a file of the application": {
			dir: "apps/web", files: []string{"apps/web/deploy.yaml"}, want: "apps/web/deploy.yaml was changed",
		},
		"a file deep in the application": {
			dir: "apps/web", files: []string{"apps/web/a/b/c"}, want: "apps/web/a/b/c was changed",
		},
		"a file of another application": {dir: "apps/web", files: []string{"apps/webshop/deploy.yaml"}},
		"no file at all":                {dir: "apps/web"},
		"any file, for an application at the top": {
			dir: "./", files: []string{"README.md"}, want: "README.md was changed",
		},
		"a directory that is written with a dot": {dir: "./a", files: []string{"a/x"}, want: "a/x was changed"},
		"a file that paths names": {
			rule: config.OnCommit{Paths: []string{"charts/**"}}, dir: "apps/web", files: []string{"charts/x/y.yaml"},
			want: "charts/x/y.yaml was changed",
		},
		"a file in a directory that paths names": {
			rule: config.OnCommit{Paths: []string{"charts"}}, dir: "apps/web", files: []string{"charts/x/y.yaml"},
			want: "charts/x/y.yaml was changed",
		},
		"a file that paths takes out again": {
			rule: config.OnCommit{Paths: []string{"charts", "!charts/*.md"}}, dir: "apps/web",
			files: []string{"charts/a.md"},
		},
		"only ignored files": {
			rule: config.OnCommit{Ignores: []string{"**/*.md"}}, dir: "apps/web", files: []string{"apps/web/README.md"},
		},
		"an ignored file next to one that counts": {
			rule: config.OnCommit{Ignores: []string{"**/*.md"}}, dir: "apps/web",
			files: []string{"apps/web/README.md", "apps/web/x"}, want: "apps/web/x was changed",
		},
		"an ignored file of another application": {
			rule: config.OnCommit{Ignores: []string{"apps/shop"}}, dir: "apps/web",
			files: []string{"apps/shop/x", "apps/web/x"}, want: "apps/web/x was changed",
		},
		"a file that both paths and ignores name": {
			rule: config.OnCommit{Paths: []string{"charts"}, Ignores: []string{"charts/*.md"}}, dir: "apps/web",
			files: []string{"charts/a.md"},
		},
		"a file of a directory that ignores names": {
			rule: config.OnCommit{Ignores: []string{"apps/web/docs"}}, dir: "apps/web",
			files: []string{"apps/web/docs/a/b"},
		},
		"a pattern with a slash before it": {
			rule: config.OnCommit{Paths: []string{"/charts", "../web/charts"}}, dir: "apps/web",
			files: []string{"charts/a"},
		},
		"a pattern is no regular expression": {
			rule: config.OnCommit{Paths: []string{"charts/.*"}}, dir: "apps/web", files: []string{"charts/a"},
		},
		"a commit that matters to a disabled trigger": {
			rule: config.OnCommit{Disabled: true}, dir: "apps/web", files: []string{"apps/web/x"},
		},
		"a disabled trigger whose paths would matter": {
			rule: config.OnCommit{Disabled: true, Paths: []string{"**"}}, dir: "apps/web", files: []string{"x"},
		},
		"a single character where paths has a ? for it": {
			rule: config.OnCommit{Paths: []string{"chart?/a"}}, dir: "apps/web", files: []string{"charts/a"},
			want: "charts/a was changed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reason, due, err := dueOnCommit(
				test.rule, test.dir, "old", "new", func() ([]string, error) { return test.files, nil },
			)
			require.NoError(t, err)
			require.Equal(t, test.want, reason)
			require.Equal(t, test.want != "", due)
		})
	}
}

func TestTheFilesOfACommitAreOnlyComparedWhenTheyMatter(t *testing.T) {
	t.Parallel()
	failing := func() ([]string, error) { return nil, errors.New("no such commit") }
	_, due, err := dueOnCommit(config.OnCommit{}, "a", "", "new", failing)
	require.NoError(t, err)
	require.True(t, due, "what was never deployed is due")
	_, due, err = dueOnCommit(config.OnCommit{Disabled: true}, "a", "", "new", failing)
	require.NoError(t, err)
	require.False(t, due, "unless its trigger is disabled")
	_, due, err = dueOnCommit(config.OnCommit{}, "a", "new", "new", failing)
	require.NoError(t, err)
	require.False(t, due, "what was deployed from this commit is not due")
	_, _, err = dueOnCommit(config.OnCommit{}, "a", "old", "new", failing)
	require.ErrorContains(t, err, "no such commit")
}

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

func BenchmarkACommitToEveryOfAThousandApplications(b *testing.B) {
	var files []string
	for i := range 1000 {
		files = append(files, fmt.Sprintf("app-%04d/round", i))
	}
	for b.Loop() {
		for i := range files {
			_, touched, err := touches(config.OnCommit{}, fmt.Sprintf("app-%04d", i), files)
			require.NoError(b, err)
			require.True(b, touched)
		}
	}
}
